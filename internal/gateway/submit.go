package gateway

import (
	"context"
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
	Namespace   string `path:"namespace" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	Key         string `header:"Idempotency-Key" required:"true" doc:"The client's name for the action, as a String of a structured field (RFC 9651), or a Display String: the same action, tried again, carries the same key." example:"\"task_submit:42:stu-7:3\""`
	Prefer      string `header:"Prefer" doc:"wait=N: answer after N seconds at most (RFC 7240)." example:"wait=10"`
	Traceparent string `header:"traceparent" doc:"The W3C trace context that is passed on to the receiver."`
	Body        struct {
		Template   string `json:"template" minLength:"1" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" doc:"The name of the TaskTemplate."`
		Parameters Object `json:"parameters,omitempty" required:"false" doc:"What the template's expressions see as params. Left out: an empty object."`
	}

	keys, preferences []string
}

// Resolve implements huma.Resolver. It keeps every line of headers: the library shows the first alone.
func (in *submitInput) Resolve(ctx huma.Context) []error {
	request, _ := humago.Unwrap(ctx)
	in.keys, in.preferences = request.Header.Values(headerKey), request.Header.Values("Prefer")
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
	action := submit.Action{Namespace: in.Namespace, Key: key, Template: in.Body.Template, OnBehalfOf: caller.Subject}
	if len(in.Body.Parameters.RawMessage) > 0 {
		action.Parameters = in.Body.Parameters
	}
	template := types.NamespacedName{Namespace: in.Namespace, Name: in.Body.Template}
	if wrong := g.allowed(ctx, caller, template, in.Body.Parameters.RawMessage); wrong != nil {
		return g.ownOutcome(ctx, action, wrong)
	}
	if !tracing.Valid(in.Traceparent) {
		in.Traceparent = "" // else it would be stored, and passed on
	}
	subject := tracing.Subject{Namespace: in.Namespace, Template: in.Body.Template, Traceparent: in.Traceparent}
	subject.Name, _ = v1alpha1.NameForKey(key)
	span := g.Tracer.Start("submit", trace.SpanKindServer, subject)
	action.Traceparent = span.Traceparent(in.Traceparent)
	out, err := g.answer(ctx, action, in.preferences)
	span.End(outcomeLabel(out, err), err != nil && err.GetStatus() >= http.StatusInternalServerError)
	if err != nil {
		return nil, err
	}
	return out, nil
}

func outcomeLabel(out *submitOutput, err *Problem) string {
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

// ownOutcome answers whoever may not submit an action, or no longer, with what came of it where it was on their own behalf: a
// template that was deleted or changed later takes no outcome back (I6).
func (g *Gateway) ownOutcome(ctx context.Context, action submit.Action, wrong *Problem) (*submitOutput, error) {
	prepared, err := g.Client.Prepare(action)
	if err != nil || wrong.Type != forbidden.Type() {
		return nil, wrong
	}
	found, unread := g.read(ctx, client.ObjectKey{Namespace: action.Namespace, Name: prepared.Name()})
	if unread != nil || !prepared.Same(found) || owner(found) != action.OnBehalfOf {
		return nil, wrong
	}
	out, failed := answerOf(found, false)
	if failed != nil {
		return nil, failed
	}
	return out, nil
}

func (g *Gateway) answer(ctx context.Context, action submit.Action, preferences []string) (*submitOutput, *Problem) {
	prepared, err := g.Client.Prepare(action)
	if err != nil {
		return nil, problem(invalidRequest, err.Error())
	}
	asking, cancel := context.WithTimeout(ctx, g.Patience)
	defer cancel()
	receipt, err := prepared.Submit(asking)
	if err != nil {
		return nil, problemFromSubmit(ctx, err)
	}
	first := receipt.Answer == submit.First
	if !first {
		if wrong := g.tellable(ctx, receipt.Object); wrong != nil {
			return nil, wrong // the outcome is not told to whoever knows the key
		}
	}
	wait, stated := g.waitOf(preferences, first)
	object := g.await(ctx, receipt.Object, wait)
	if owner(object) != owner(receipt.Object) {
		if wrong := g.tellable(ctx, object); wrong != nil {
			return nil, wrong // the record knew the action, and somebody else's outcome came back
		}
	}
	out, wrong := answerOf(object, first)
	if stated && wrong == nil {
		out.Applied = "wait=" + strconv.Itoa(int(wait/time.Second))
	}
	return out, wrong
}

// waitOf is how long an answer waits for the outcome, and whether the request says so.
func (g *Gateway) waitOf(preferences []string, first bool) (wait time.Duration, stated bool) {
	wait, stated = preferredWait(preferences)
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

// waitingOverhead is about what a request that waits holds beside its parameters: its connection, and a watch.
const waitingOverhead = 16 << 10

// await returns a submission when it has finished, or as it is when the wait is over. What happens meanwhile (the API
// server goes away, somebody deletes it) changes nothing about its having been submitted.
func (g *Gateway) await(ctx context.Context, object *v1alpha1.TaskSubmission, wait time.Duration) *v1alpha1.TaskSubmission {
	if object.Status.Phase.Terminal() || wait <= 0 {
		return object
	}
	caller, size := callerOf(ctx).Identity, int64(len(object.Spec.Parameters.Raw)+waitingOverhead)
	if !g.waiting.enter(caller, size, g.WaitingBytes, g.AllWaitingBytes) {
		return object // it is answered as it is now, and asked for again
	}
	defer g.waiting.leave(caller, size)
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
