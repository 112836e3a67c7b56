package tracing_test

import (
	"context"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/telemetry/tracing"
	"github.com/taskonce/taskonce/test/collector"
)

const (
	client = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	// unsampled is a client's that nobody records.
	unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
)

func collect(t *testing.T) *collector.Collector {
	t.Helper()
	c, err := collector.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	return c
}

func tracer(t *testing.T) *tracing.Tracer {
	t.Helper()
	made, err := tracing.FromEnvironment(t.Context(), "taskonce", "v1")
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func all(collector.Span) bool { return true }

func TestSpanContinuesTheClientsTrace(t *testing.T) {
	collected := collect(t)
	tracer := tracer(t)
	span := tracer.Start("execute effect", trace.SpanKindClient, tracing.Subject{Namespace: "shop", Name: "order-1", Template: "charge", Attempt: 2, Traceparent: client})
	span.State(v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting)
	carried := span.Traceparent("")
	span.End("Applied", false)
	if err := tracer.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := collected.Spans(all)
	if len(spans) != 1 {
		t.Fatalf("%d spans arrived", len(spans))
	}
	got := spans[0]
	if got.Trace != "4bf92f3577b34da6a3ce929d0e0e4736" || got.Parent != "00f067aa0ba902b7" || carried != "00-"+got.Trace+"-"+got.ID+"-01" {
		t.Errorf("the span %+v is no child of %s, or not what %s names", got, client, carried)
	}
	for name, want := range map[string]string{
		"taskonce.namespace": "shop", "taskonce.name": "order-1", "taskonce.template": "charge", "taskonce.attempt": "2",
		"taskonce.phase": "Processing", "taskonce.reason": "Executing", "taskonce.outcome": "Applied",
	} {
		if got.Attributes[name] != want {
			t.Errorf("%s is %q, want %q", name, got.Attributes[name], want)
		}
	}
	if got.Resource["service.name"] != "taskonce" || got.Resource["service.version"] != "v1" || got.Wrong {
		t.Errorf("the resource is %v, and wrong is %v", got.Resource, got.Wrong)
	}
}

func TestSamplingIsByEnvironment(t *testing.T) {
	for _, tt := range []struct {
		reason, sampler, parent string
		spans                   int
	}{
		{"what the client does not sample is not sampled", "", unsampled, 0},
		{"what has no client's trace is", "", "", 1},
		{"a malformed trace is none", "", "00-0-0-00", 1},
		{"nothing, where the environment says so", "always_off", client, 0},
		{"everything, where it says so", "always_on", unsampled, 1},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			collected := collect(t)
			t.Setenv("OTEL_TRACES_SAMPLER", tt.sampler)
			tracer := tracer(t)
			span := tracer.Start("write record", trace.SpanKindClient, tracing.Subject{Traceparent: tt.parent})
			if carried := span.Traceparent(""); !tracing.Valid(carried) || strings.HasSuffix(carried, "-01") != (tt.spans == 1) {
				t.Errorf("it is carried on as %q", carried)
			}
			span.End("Written", false)
			if err := tracer.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := len(collected.Spans(all)); got != tt.spans {
				t.Errorf("%d spans arrived, want %d", got, tt.spans)
			}
		})
	}
}

func TestNothingIsTracedUnlessConfigured(t *testing.T) {
	for _, tt := range []struct {
		reason string
		set    map[string]string
		on     bool
	}{
		{"nothing is set", nil, false},
		{"an endpoint for all signals", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, true},
		{"an endpoint for traces", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/v1/traces"}, true},
		{"over gRPC", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, true},
		{"disabled", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}, false},
		{"no exporter", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"}, false},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			for name, value := range tt.set {
				t.Setenv(name, value)
			}
			tracer := tracer(t)
			if (tracer != nil) != tt.on {
				t.Errorf("traced: %v, want %v", tracer != nil, tt.on)
			}
			if err := tracer.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestUnknownProtocolIsAnError(t *testing.T) {
	collect(t)
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "carrier-pigeon")
	if _, err := tracing.FromEnvironment(t.Context(), "taskonce", "v1"); err == nil || !strings.Contains(err.Error(), "carrier-pigeon") {
		t.Errorf("the error is %v", err)
	}
}

func TestNoTracerCostsNothing(t *testing.T) {
	var off *tracing.Tracer
	about := tracing.Subject{Namespace: "shop", Name: "order-1", Template: "charge", Traceparent: client}
	if allocations := testing.AllocsPerRun(100, func() {
		span := off.Start("write record", trace.SpanKindClient, about)
		span.State(v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting)
		if span.Traceparent(client) != client {
			t.Error("the client's trace is lost")
		}
		span.End("Written", false)
	}); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}
