package gateway_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/collector"
	"github.com/taskonce/taskonce/test/harness"
)

// TestTheTraceGoesThroughTheGateway: its span continues the client's, and whatever comes after continues that.
func TestTheTraceGoesThroughTheGateway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("award", "/plain/points", schema)
	traces, err := collector.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = traces.Close() })
	process, url, err := harness.Gateway{
		Program: filepath.Join(installation.bin, "gateway"), Kubeconfig: installation.kubeconfig, Log: installation.log("traced"),
		Environment: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + traces.URL, "OTEL_BSP_SCHEDULE_DELAY=50"},
	}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	const trace, client = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	w.expect(201, "", url, w.token, submits("task", "award", with("traceparent", "00-"+trace+"-"+client+"-01")))
	var spans []collector.Span
	if err := process.Await(t.Context(), func(context.Context) bool {
		spans = traces.Spans(func(span collector.Span) bool { return span.Name == "submit" })
		return len(spans) > 0
	}); err != nil {
		t.Fatal(err)
	}
	span := spans[0]
	if span.Trace != trace || span.Parent != client || span.Wrong || span.Attributes["taskonce.outcome"] != "created" || span.Resource["service.name"] != "taskonce-gateway" {
		t.Errorf("the gateway's span is %+v", span)
	}
	if got, want := w.submission("task").Annotations[v1alpha1.AnnotationTraceparent], "00-"+trace+"-"+span.ID+"-01"; got != want {
		t.Errorf("the submission continues %q, want %q", got, want)
	}
	if bytes.Contains(traces.Raw(), []byte(w.token)) {
		t.Error("the token was exported")
	}
}

// TestTraces: the client's trace goes on in the submission, and is no part of the action.
func TestTraces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("award", "/plain/points")
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	w.expect(201, "", installation.passing, w.token, submits("task", "award", with("traceparent", "00-"+trace+"-00f067aa0ba902b7-01")))
	w.expect(201, "", installation.passing, w.token, submits("task", "award", with("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")))
	if parent := w.submission("task").Annotations[v1alpha1.AnnotationTraceparent]; !strings.Contains(parent, trace) {
		t.Errorf("the trace is %q", parent)
	}
}
