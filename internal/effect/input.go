package effect

import "github.com/taskonce/taskonce/internal/expr"

// Input returns what the expressions of the attempt see, before there is an answer. An error says that its parameters
// are not JSON.
func (a *Attempt) Input() (expr.Input, error) {
	params, err := expr.DecodeJSON(a.Parameters)
	if err != nil {
		return expr.Input{}, err
	}
	return expr.Input{
		Params: params,
		Submission: map[string]string{
			"name": a.Name, "namespace": a.Namespace, "key": a.Key, "businessKey": a.BusinessKey, "downstreamKey": a.DownstreamKey,
		},
		Attempt: a.Number,
	}, nil
}
