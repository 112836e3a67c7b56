package submit

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func TestWhichTraceIsSent(t *testing.T) {
	const named = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	span := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled,
	}))
	for _, tt := range []struct {
		reason string
		ctx    context.Context
		named  string
		want   string
	}{
		{"there is none", t.Context(), "", ""},
		{"the context's", span, "", "00-01000000000000000000000000000000-0200000000000000-01"},
		{"the action's", t.Context(), named, named},
		{"the action's before the context's", span, named, named},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			object, err := Action{Namespace: "shop", Key: "order-1", Template: "charge", Traceparent: tt.named}.Object()
			if err != nil {
				t.Fatal(err)
			}
			carryTrace(tt.ctx, object)
			if got := object.Annotations[v1alpha1.AnnotationTraceparent]; got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
