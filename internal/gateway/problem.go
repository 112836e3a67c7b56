package gateway

import (
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// problemTypes is what every type begins with. The types are stable: clients compare them.
const problemTypes = "https://taskonce.dev/problems/"

// ProblemType is a type of problem, as RFC 9457 has them.
type ProblemType struct {
	Name   string
	Status int
	Title  string
	// Advice says what a client does about it.
	Advice string
}

// The types. docs/errors.md lists them.
var (
	keyMissing        = ProblemType{"key-missing", http.StatusBadRequest, "The Idempotency-Key is missing", "Send the header `Idempotency-Key`, with the same value for each try of the same action."}
	invalidKey        = ProblemType{"invalid-key", http.StatusBadRequest, "The Idempotency-Key is not valid", "Write it as a String of a structured field (RFC 9651), in quotes: 1 to 512 bytes, without control characters and without white space at either end."}
	invalidRequest    = ProblemType{"invalid-request", http.StatusBadRequest, "The request is not as the interface describes it", "Correct what `errors` or `detail` names. Nothing was created."}
	invalidParameters = ProblemType{"invalid-parameters", http.StatusBadRequest, "The template does not take these parameters", "Correct the field that `detail` names. Nothing was done, and the key is not used up."}
	unauthenticated   = ProblemType{"unauthenticated", http.StatusUnauthorized, "The token is missing or not accepted", "Get a new token, and send the same request with it."}
	forbidden         = ProblemType{"forbidden", http.StatusForbidden, "Forbidden", "Have the right granted, or use what your token or the template's `access` allows."}
	notTold           = ProblemType{"not-told", http.StatusForbidden, "It is submitted, and you are not told what comes of it", "Its submitter may ask, and anyone whom the template's `access` allows. It is submitted under this key, and happens once, or has happened: sending it again changes nothing."}
	notFound          = ProblemType{"not-found", http.StatusNotFound, "There is no such submission", "Submit it: under the same key, the outcome of an earlier one that was deleted comes back."}
	noSuchNamespace   = ProblemType{"no-such-namespace", http.StatusNotFound, "There is no such namespace", "Correct the path, or have the namespace made. Nothing was created."}
	noSuchPath        = ProblemType{"no-such-path", http.StatusNotFound, "There is no such path", "`/openapi.json` lists what there is."}
	wrongMethod       = ProblemType{"wrong-method", http.StatusMethodNotAllowed, "The method does not fit", "`/openapi.json` lists what there is."}
	slowBody          = ProblemType{"slow-body", http.StatusRequestTimeout, "The body did not arrive in time", "Send the same request again."}
	inProcess         = ProblemType{"in-process", http.StatusConflict, "The first one is in process", "Nothing of yours was lost: ask `Location` after `Retry-After`, or send the same request again."}
	keyBlocked        = ProblemType{"key-blocked", http.StatusConflict, "What failed for its input has the key's name", "Have the submission that `detail` names deleted, by whoever may delete it, or wait until its template's `retention.failedTTL` is over; then send the same request again, under the same key. Take no other key: what was done under this one before would be done again."}
	tooLarge          = ProblemType{"too-large", http.StatusRequestEntityTooLarge, "The request is too large", "Store what is large elsewhere, and pass its address."}
	unsupported       = ProblemType{"unsupported-media-type", http.StatusUnsupportedMediaType, "The body is of another type", "Send `application/json`."}
	keyReused         = ProblemType{"key-reused", http.StatusUnprocessableEntity, "The key stands for another action", "Give this action a key of its own; if it is the same action, send what was sent first."}
	notApplied        = ProblemType{"not-applied", http.StatusFailedDependency, "It failed, and certainly did not happen", "`submission` says why. Every duplicate gets this answer; another try is another key, or a person's decision to retry."}
	tooMany           = ProblemType{"too-many-requests", http.StatusTooManyRequests, "Too many requests", "Send the same request again after `Retry-After`: this one created nothing."}
	internal          = ProblemType{"internal", http.StatusInternalServerError, "The gateway failed", "Whether it was created is not known: send the same request again, under the same key."}
	unavailable       = ProblemType{"unavailable", http.StatusServiceUnavailable, "The API server cannot be asked", "Send the same request again, under the same key, after `Retry-After`."}
	unanswered        = ProblemType{"unanswered", http.StatusServiceUnavailable, "Whether it was created is not known", "Send the same request again, under the same key, after `Retry-After`: you get whatever came of this one."}
)

// ProblemTypes are all of them, in the order in which the documentation lists them.
var ProblemTypes = []ProblemType{
	keyMissing, invalidKey, invalidRequest, invalidParameters, unauthenticated, forbidden, notTold, notFound, noSuchNamespace, noSuchPath, wrongMethod,
	slowBody, inProcess, keyBlocked, tooLarge, unsupported, keyReused, notApplied, tooMany, internal, unavailable, unanswered,
}

// Type returns the URI of a type.
func (k ProblemType) Type() string { return problemTypes + k.Name }

// Fault is one thing that is wrong with a request.
type Fault struct {
	Where string `json:"where" doc:"Such as body.template or header.Prefer."`
	What  string `json:"what"`
}

// Problem is an error as RFC 9457 says it.
type Problem struct {
	Type       string  `json:"type" format:"uri" doc:"Stable: compare it."`
	Title      string  `json:"title"`
	Status     int     `json:"status"`
	Detail     string  `json:"detail,omitempty" doc:"What is wrong here, for a person."`
	Errors     []Fault `json:"errors,omitempty" doc:"What is wrong with the request, part by part."`
	Submission *View   `json:"submission,omitempty" doc:"The submission that it speaks of, where there is one."`

	header http.Header
}

func problem(kind ProblemType, detail string) *Problem {
	return &Problem{Type: kind.Type(), Title: kind.Title, Status: kind.Status, Detail: detail, header: http.Header{}}
}

// comeBack is after how many seconds to ask again, as Retry-After says it.
const comeBack = "1"

// later says that the same request may be answered otherwise in a while.
func (p *Problem) later() *Problem {
	p.header.Set("Retry-After", comeBack)
	return p
}

// Error implements error.
func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header { return p.header }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// sayProblems has the library say what is wrong with a request in our words. It is the library's one hook, for the whole process.
var sayProblems = sync.OnceFunc(func() {
	huma.ValidateStrictCasing = true // else of two members that differ in case only one is looked at, and the other one taken
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return problemOf(status, message, errs)
	}
	huma.NewErrorWithContext = func(_ huma.Context, status int, message string, errs ...error) huma.StatusError {
		return problemOf(status, message, errs)
	}
})

var byStatus = map[int]ProblemType{
	http.StatusRequestTimeout: slowBody, http.StatusRequestEntityTooLarge: tooLarge,
	http.StatusUnsupportedMediaType: unsupported, http.StatusBadRequest: invalidRequest, http.StatusUnprocessableEntity: invalidRequest,
}

func problemOf(status int, message string, errs []error) *Problem {
	kind, known := byStatus[status]
	if !known {
		kind = internal
	}
	p := problem(kind, message)
	for _, err := range errs {
		detailer, ok := err.(huma.ErrorDetailer)
		if !ok || kind == internal {
			continue // of the gateway's own errors nobody outside is told more
		}
		fault := detailer.ErrorDetail()
		if fault.Location == "header."+headerKey && strings.HasPrefix(fault.Message, "required ") {
			return problem(keyMissing, "this request creates something, so it needs the header "+headerKey)
		}
		p.Errors = append(p.Errors, Fault{Where: fault.Location, What: fault.Message})
	}
	return p
}
