package controller

import (
	"context"

	"go.opentelemetry.io/otel/trace"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/telemetry/tracing"
)

// traced makes a call a span of its action's trace, which the call's request carries on.
func (r *Submissions) traced(name string, run call) call {
	if r.Tracer == nil {
		return run
	}
	return func(ctx context.Context, attempt effect.Attempt) (outcome effect.Outcome, err error) {
		span := r.Tracer.Start(name, trace.SpanKindClient, tracing.Subject{
			Namespace: attempt.Namespace, Name: attempt.Name, Template: attempt.Template, Attempt: attempt.Number, Traceparent: attempt.Traceparent,
		})
		attempt.Traceparent = span.Traceparent(attempt.Traceparent)
		ended := string(v1alpha1.OutcomeUnknown) // where it panics
		defer func() { span.End(ended, ended == string(v1alpha1.OutcomeUnknown)) }()
		outcome, err = run(ctx, attempt)
		if ended = string(outcome.Kind); err != nil {
			ended = "NotSent"
		}
		return outcome, err
	}
}

// spanOfRecord begins the span of a write of the record. Where the client has no trace, the first one begins it, and the
// record keeps it.
func (r *Submissions) spanOfRecord(subject *subject, action *v1alpha1.Action) *tracing.Span {
	span := r.spanOfWrite(subject, "write record", action)
	if span != nil && subject.record.Object == nil && !tracing.Valid(action.Traceparent) {
		action.Traceparent = span.Traceparent("")
	}
	span.State(action.Phase, action.Reason)
	return span
}

// spanOfWrite begins the span of a write of one of the subject's objects.
func (r *Submissions) spanOfWrite(subject *subject, name string, action *v1alpha1.Action) *tracing.Span {
	return r.Tracer.Start(name, trace.SpanKindClient, tracing.Subject{
		Namespace: subject.action.Namespace, Name: subject.action.Name, Template: subject.templateName,
		Attempt: action.Attempt.Number, Traceparent: action.Traceparent,
	})
}

// spanOfStatus begins the span of a write of the status.
func (r *Submissions) spanOfStatus(subject *subject, status *v1alpha1.TaskSubmissionStatus) *tracing.Span {
	action := &v1alpha1.Action{Traceparent: subject.submission.Annotations[v1alpha1.AnnotationTraceparent]}
	if subject.record.Object != nil {
		action = subject.record.Object.Spec.Action
	}
	span := r.spanOfWrite(subject, "write status", action)
	span.State(status.Phase, status.Reason)
	return span
}

// endOfWrite ends it. That somebody else was first is no fault.
func endOfWrite(span *tracing.Span, err error) {
	if err == nil {
		span.End("Written", false)
		return
	}
	first := apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
	span.End(reasonOf(err), !first)
}

// reasonOf is one word for an error: what the API server said of it may quote what was submitted.
func reasonOf(err error) string {
	if reason := apierrors.ReasonForError(err); reason != "" {
		return string(reason)
	}
	return "Error"
}
