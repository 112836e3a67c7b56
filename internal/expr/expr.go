// Package expr is ${CEL}: the expressions inside the strings of a template. They are compiled, type-checked and
// costed when a template is admitted, and evaluated with bounds when an attempt needs them.
package expr

// The variables of an expression. Each place of a template allows some of them.
type Variables uint8

const (
	// Params is the submission's parameters, typed by the template's schema where there is one.
	Params Variables = 1 << iota
	// Submission has name, namespace, key, businessKey and downstreamKey, all strings.
	Submission
	// Attempt is the number of the attempt, an int.
	Attempt
	// Response has status (int), headers (map of lower-case name to string) and body (the decoded JSON, or the text
	// where it is none).
	Response
	// Claims is what a token says of its bearer: a map of names to anything.
	Claims
)

// Input holds the values of the variables at one evaluation.
type Input struct {
	// Params is a JSON object, decoded with DecodeJSON.
	Params any
	// Submission has the members named at Variables.
	Submission map[string]string
	// Attempt is the number of the attempt.
	Attempt int32
	// Response has the members named at Variables; nil where there was no answer.
	Response map[string]any
	// Claims is a JSON object, decoded with DecodeObject.
	Claims map[string]any
}
