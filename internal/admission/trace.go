package admission

import (
	"go.opentelemetry.io/otel/trace"
	"gomodules.xyz/jsonpatch/v2"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/internal/telemetry/tracing"
)

// trace begins the span of a create, as part of its client's trace. A submission that comes without one is given this
// span's, so that all that follows is one trace.
func (h *Submissions) trace(submission *v1alpha1.TaskSubmission) (*tracing.Span, []jsonpatch.Operation) {
	client := submission.Annotations[v1alpha1.AnnotationTraceparent]
	span := h.Tracer.Start("admit submission", trace.SpanKindServer, tracing.Subject{
		Namespace: submission.Namespace, Name: submission.Name, Template: submission.Spec.TemplateRef.Name, Traceparent: client,
	})
	if span == nil || client != "" {
		return span, nil
	}
	return span, []jsonpatch.Operation{annotate(submission, v1alpha1.AnnotationTraceparent, span.Traceparent(""))}
}

// outcomeOf says in one word what was answered.
func outcomeOf(problem *lifecycle.Problem) string {
	if problem != nil {
		return string(problem.Reason)
	}
	return "Admitted"
}
