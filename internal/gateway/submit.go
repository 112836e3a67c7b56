package gateway

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/telemetry/tracing"
	"github.com/taskonce/taskonce/pkg/submit"
)

type submitInput struct {
	Namespace   string `path:"namespace" maxLength:"63"`
	Key         string `header:"Idempotency-Key" required:"true" doc:"The client's name for the action, as a String of a structured field (RFC 9651), or a Display String: the same action, tried again, carries the same key." example:"\"task_submit:42:stu-7:3\""`
	Prefer      string `header:"Prefer" doc:"wait=N: answer after N seconds at most (RFC 7240)." example:"wait=10"`
	Traceparent string `header:"traceparent" doc:"The W3C trace context that is passed on to the receiver."`
	Body        struct {
		Template   string `json:"template" minLength:"1" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" doc:"The name of the TaskTemplate."`
		Parameters Object `json:"parameters,omitempty" required:"false" doc:"What the template's expressions see as params. Left out: an empty object."`
	}

	keys []string
}

// Resolve implements huma.Resolver. It keeps every line of the key's header: the library shows the first alone.
func (in *submitInput) Resolve(ctx huma.Context) []error {
	request, _ := humago.Unwrap(ctx)
	in.keys = request.Header.Values(headerKey)
	return nil
}

type submitOutput struct {
	Status     int
	Location   string `header:"Location"`
	RetryAfter string `header:"Retry-After"`
	Replayed   string `header:"Idempotency-Replayed"`
	Applied    string `header:"Preference-Applied"`
	Body       *View
}

// submit answers a request to have an action done. Whatever it answers, the same request gets the same outcome later.
func (g *Gateway) submit(ctx context.Context, in *submitInput) (*submitOutput, error) {
	key, wrong := keyOf(in.keys)
	if wrong != nil {
		return nil, wrong
	}
	caller := callerOf(ctx)
	template := types.NamespacedName{Namespace: in.Namespace, Name: in.Body.Template}
	if wrong := g.allowed(ctx, caller, template, in.Body.Parameters.RawMessage); wrong != nil {
		return nil, wrong
	}
	action := submit.Action{Namespace: in.Namespace, Key: key, Template: in.Body.Template, OnBehalfOf: caller.Subject}
	if len(in.Body.Parameters.RawMessage) > 0 {
		action.Parameters = in.Body.Parameters
	}
	about := tracing.Subject{Namespace: in.Namespace, Template: in.Body.Template, Traceparent: in.Traceparent}
	about.Name, _ = v1alpha1.NameForKey(key)
	span := g.Tracer.Start("submit", trace.SpanKindServer, about)
	action.Traceparent = span.Traceparent(in.Traceparent)
	out, err := g.answer(ctx, action, in.Prefer)
	span.End(outcomeOf(out, err), err != nil && err.GetStatus() >= http.StatusInternalServerError)
	if err != nil {
		return nil, err
	}
	return out, nil
}

func outcomeOf(out *submitOutput, err *Problem) string {
	switch {
	case err != nil:
		return err.Type[len(problemTypes):]
	case out.Status == http.StatusAccepted:
		return "accepted"
	case out.Replayed != "":
		return "replayed"
	default:
		return "created"
	}
}

func (g *Gateway) answer(ctx context.Context, action submit.Action, prefer string) (*submitOutput, *Problem) {
	prepared, err := g.Client.Prepare(action)
	if err != nil {
		return nil, problem(invalidRequest, err.Error())
	}
	asking, cancel := context.WithTimeout(ctx, g.Patience)
	defer cancel()
	receipt, err := prepared.Submit(asking)
	if err != nil {
		return nil, refusal(callerOf(ctx), err)
	}
	first := receipt.Answer == submit.First
	if !first {
		if wrong := g.tellable(ctx, receipt.Object); wrong != nil {
			return nil, wrong // the outcome is not told to whoever knows the key
		}
	}
	wait, stated := g.waitOf(prefer, first)
	object := g.await(ctx, receipt.Object, wait)
	if owner(object) != owner(receipt.Object) {
		if wrong := g.tellable(ctx, object); wrong != nil {
			return nil, wrong // the record knew the action, and somebody else's outcome came back
		}
	}
	out, wrong := outcome(object, first)
	if stated && wrong == nil {
		out.Applied = "wait=" + strconv.Itoa(int(wait/time.Second))
	}
	return out, wrong
}

// waitOf is how long an answer waits for the outcome, and whether the request says so.
func (g *Gateway) waitOf(prefer string, first bool) (wait time.Duration, stated bool) {
	wait, stated = preferredWait(prefer)
	switch {
	case stated:
		wait = min(wait, g.MaxWait)
	case first:
		wait = g.DefaultWait
	}
	return wait, stated
}

// tellable returns nil where a caller may read what is submitted already: a refusal of that is none to submit it.
func (g *Gateway) tellable(ctx context.Context, s *v1alpha1.TaskSubmission) *Problem {
	wrong := g.readable(ctx, callerOf(ctx), s)
	if wrong != nil && wrong.Type == forbidden.Type() {
		return problem(notTold, wrong.Detail)
	}
	return wrong
}

// await returns a submission when it has finished, or as it is when the wait is over. What happens meanwhile (the API
// server goes away, somebody deletes it) changes nothing about its having been submitted.
func (g *Gateway) await(ctx context.Context, object *v1alpha1.TaskSubmission, wait time.Duration) *v1alpha1.TaskSubmission {
	if object.Status.Phase.Terminal() || wait <= 0 {
		return object
	}
	ctx, stop := g.unlessStopping(ctx)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	last := object
	_, _ = g.Client.Follow(ctx, client.ObjectKeyFromObject(object), func(s *v1alpha1.TaskSubmission) bool {
		if s.UID == object.UID {
			last = s
		}
		return s.Status.Phase.Terminal()
	})
	return last
}

// outcome answers with a submission as it is: every duplicate with what the first one got.
func outcome(s *v1alpha1.TaskSubmission, first bool) (*submitOutput, *Problem) {
	replayed := ""
	if s.Status.Phase.Terminal() && (!first || s.Status.Replayed) {
		replayed = "true"
	}
	switch {
	case s.Status.Phase == v1alpha1.PhaseSuccess:
		return &submitOutput{Status: http.StatusCreated, Location: location(s), Replayed: replayed, Body: viewOf(s)}, nil
	case s.Status.Phase == v1alpha1.PhaseFailed:
		p := about(failure(s.Status.Reason), s)
		if replayed != "" {
			p.header.Set(headerReplayed, replayed)
		}
		return nil, p
	case first:
		return &submitOutput{Status: http.StatusAccepted, Location: location(s), RetryAfter: comeBack, Body: viewOf(s)}, nil
	default:
		return nil, about(inProcess, s).later()
	}
}

// about says a problem of a submission that is there.
func about(kind Kind, s *v1alpha1.TaskSubmission) *Problem {
	p := problem(kind, s.Status.Message)
	p.Submission = viewOf(s)
	p.header.Set("Location", location(s))
	return p
}

// failure is the type of the problem that a failed submission is: the same that admission would have said, had it been asked.
func failure(reason v1alpha1.Reason) Kind {
	switch reason {
	case v1alpha1.ReasonInvalidParameters, v1alpha1.ReasonKeyMismatch, v1alpha1.ReasonInvalidName:
		return invalidParameters
	case v1alpha1.ReasonKeyReused:
		return keyReused
	default:
		return notApplied
	}
}

// refusal says why an action was not, or may not have been, submitted.
func refusal(caller *Caller, err error) *Problem {
	var other *submit.OtherPayloadError
	var refused *submit.RefusedError
	var unknown *submit.UnknownError
	switch {
	case errors.As(err, &unknown): // first: a refusal may be inside it
		return problem(unanswered, "the API server did not answer in time: send the same request again, under the same key, to find out").later()
	case errors.As(err, &other):
		return problem(keyReused, "the key belongs to another action, with another template or other parameters: give this one a key of its own")
	case errors.As(err, &refused):
		return asked(caller, refused.Err)
	default:
		return problem(unavailable, "the API server cannot be reached").later()
	}
}
