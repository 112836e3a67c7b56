package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Tracer makes spans. A nil Tracer makes none, and costs nothing.
type Tracer struct {
	tracer   trace.Tracer
	shutdown func(context.Context) error
}

// Subject is the action that a span is about. There is no room for parameters, results or messages: they may hold what
// not everybody who reads traces may know.
type Subject struct {
	Namespace, Name, Template string
	// Attempt is the number of the attempt; 0: none was begun.
	Attempt int32
	// Traceparent is the W3C trace context that the span continues. Empty or malformed: it begins a trace.
	Traceparent string
}

// Span is one step of an action. A nil Span does nothing.
type Span struct {
	span        trace.Span
	traceparent string
}

// Start begins a span, which must be ended. kind says whether the step answers somebody (server), asks somebody
// (client) or neither.
func (t *Tracer) Start(name string, kind trace.SpanKind, about Subject) *Span {
	if t == nil {
		return nil
	}
	_, span := t.tracer.Start(parse(about.Traceparent), name, trace.WithSpanKind(kind), trace.WithAttributes(
		attribute.String("taskonce.namespace", about.Namespace),
		attribute.String("taskonce.name", about.Name),
		attribute.String("taskonce.template", about.Template),
		attribute.Int("taskonce.attempt", int(about.Attempt)),
	))
	return &Span{span: span, traceparent: format(span.SpanContext())}
}

// Traceparent returns the context that continues the span, sampled or not, or otherwise where nothing is traced.
func (s *Span) Traceparent(otherwise string) string {
	if s == nil {
		return otherwise
	}
	return s.traceparent
}

// State says in which phase and why the action is.
func (s *Span) State(phase v1alpha1.Phase, reason v1alpha1.Reason) {
	if s != nil {
		s.span.SetAttributes(attribute.String("taskonce.phase", string(phase)), attribute.String("taskonce.reason", string(reason)))
	}
}

// End ends the span with one word for what came of it. wrong marks it as an error.
func (s *Span) End(outcome string, wrong bool) {
	if s == nil {
		return
	}
	s.span.SetAttributes(attribute.String("taskonce.outcome", outcome))
	if wrong {
		s.span.SetStatus(codes.Error, outcome)
	}
	s.span.End()
}

// Valid reports whether a W3C trace context can be continued.
func Valid(traceparent string) bool {
	return trace.SpanContextFromContext(parse(traceparent)).IsValid()
}

// TraceID returns the trace id of a W3C trace context, or nothing where that is none.
func TraceID(traceparent string) string {
	span := trace.SpanContextFromContext(parse(traceparent))
	if !span.IsValid() {
		return ""
	}
	return span.TraceID().String()
}

const header = "traceparent"

func parse(traceparent string) context.Context {
	return propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{header: traceparent})
}

func format(span trace.SpanContext) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), span), carrier)
	return carrier[header]
}
