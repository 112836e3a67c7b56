package tracing_test

import (
	"bytes"
	"testing"

	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/collector"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// TestOneTraceFromTheClientToTheReceiver: the answer to the call is lost, so the receiver is asked. Whatever is done is a
// child of the client's span, and what the receiver hears names the span of the call.
func TestOneTraceFromTheClientToTheReceiver(t *testing.T) {
	w := newWorld(t)
	w.asked("charge", "/drop/charges", "30s")
	ctx, client := w.inSpan(1)
	w.submit(ctx, "order-1", "charge")
	w.stands("order-1", v1alpha1.ReasonVerifiedApplied)
	spans := w.spans("order-1", map[string]int{
		"admit submission": 1, "write record": 3, "execute effect": 1, "verify effect": 1, "write status": 1,
	})
	for name, all := range spans {
		for _, span := range all {
			if span.Trace != client.TraceID().String() || span.Parent != client.SpanID().String() {
				t.Errorf("%s is no child of the client's span: trace %s, parent %s", name, span.Trace, span.Parent)
			}
			if span.Attributes["taskonce.template"] != "charge" || span.Attributes["taskonce.outcome"] == "" || span.Resource["service.name"] != "taskonce" {
				t.Errorf("%s lacks something: %v of %v", name, span.Attributes, span.Resource)
			}
		}
	}
	w.expect(spans["admit submission"][0], tracev1.Span_SPAN_KIND_SERVER, "0", "Admitted", false)
	w.expect(spans["execute effect"][0], tracev1.Span_SPAN_KIND_CLIENT, "1", "Unknown", true)
	w.expect(spans["verify effect"][len(spans["verify effect"])-1], tracev1.Span_SPAN_KIND_CLIENT, "1", "Applied", false)
	last := spans["write record"][len(spans["write record"])-1]
	w.expect(last, tracev1.Span_SPAN_KIND_CLIENT, "1", "Written", false)
	if last.Attributes["taskonce.phase"] != "Success" || last.Attributes["taskonce.reason"] != "VerifiedApplied" {
		t.Errorf("the last record says %v", last.Attributes)
	}
	w.heard(w.logged(ledger.Call, "order-1"), spans["execute effect"])
	w.heard(w.logged(ledger.Check, "order-1"), spans["verify effect"])
	if raw := installation.collector.Raw(); bytes.Contains(raw, []byte(secretParameter)) || bytes.Contains(raw, []byte(secretHeader)) {
		t.Error("a span holds a parameter or a Secret")
	}
}

// TestDuplicateIsItsOwnClients: a retry has a trace of its own, of which only its admission is part.
func TestDuplicateIsItsOwnClients(t *testing.T) {
	w := newWorld(t)
	w.asked("charge", "/plain/charges", "30s")
	ctx, first := w.inSpan(2)
	w.submit(ctx, "order-2", "charge")
	w.stands("order-2", v1alpha1.ReasonApplied)
	again, second := w.inSpan(3)
	w.submit(again, "order-2", "charge")
	spans := w.spans("order-2", map[string]int{"admit submission": 2, "write record": 2, "execute effect": 1, "write status": 1})
	for name, all := range spans {
		for i, span := range all {
			want := first
			if name == "admit submission" && i == 1 {
				want = second
			}
			if span.Trace != want.TraceID().String() || span.Parent != want.SpanID().String() {
				t.Errorf("%s %d is part of trace %s", name, i+1, span.Trace)
			}
		}
	}
}

// TestTraceWithoutAClientBeginsAtAdmission: whoever sends none has one all the same.
func TestTraceWithoutAClientBeginsAtAdmission(t *testing.T) {
	w := newWorld(t)
	w.asked("charge", "/plain/charges", "30s")
	w.submit(t.Context(), "order-3", "charge")
	w.stands("order-3", v1alpha1.ReasonApplied)
	spans := w.spans("order-3", map[string]int{"admit submission": 1, "write record": 2, "execute effect": 1, "write status": 1})
	root := spans["admit submission"][0]
	if root.Parent != "" || w.get("order-3").Annotations[v1alpha1.AnnotationTraceparent] != carried(root) {
		t.Errorf("admission begins no trace: its parent is %q", root.Parent)
	}
	for name, all := range spans {
		for _, span := range all {
			if span.ID != root.ID && (span.Trace != root.Trace || span.Parent != root.ID) {
				t.Errorf("%s is part of trace %s, with parent %q", name, span.Trace, span.Parent)
			}
		}
	}
	w.heard(w.logged(ledger.Call, "order-3"), spans["execute effect"])
}

// TestTraceGoesOnAfterAKill: the process that executes is killed, and the one that finds out what became of it goes on
// with the trace that the record keeps.
func TestTraceGoesOnAfterAKill(t *testing.T) {
	w := newWorld(t)
	w.asked("charge", "/hold/charges", "10s") // it has to be killed within this
	ctx, client := w.inSpan(4)
	w.submit(ctx, "order-4", "charge")
	w.eventually("the call", func() bool { return len(w.logged(ledger.Call, "order-4")) > 0 })
	w.spans("order-4", map[string]int{"admit submission": 1, "write record": 1, "write status": 1})
	w.eventually("its status to say so", func() bool { return w.get("order-4").Status.Reason == v1alpha1.ReasonExecuting }) // else the next one tries to create the record
	installation.manager.Kill()
	w.release()
	w.eventually("the effect", func() bool { return len(w.logged(ledger.Effect, "order-4")) > 0 })
	w.must(startOperator(t.Context()))
	w.stands("order-4", v1alpha1.ReasonVerifiedApplied)
	spans := w.spans("order-4", map[string]int{"admit submission": 1, "write record": 3, "verify effect": 1, "write status": 1})
	for name, all := range spans {
		for _, span := range all {
			if span.Trace != client.TraceID().String() || span.Parent != client.SpanID().String() {
				t.Errorf("%s is part of trace %s, with parent %q", name, span.Trace, span.Parent)
			}
		}
	}
	w.heard(w.logged(ledger.Check, "order-4"), spans["verify effect"])
}

// TestJobCarriesTheTrace: its containers find the span that made it in their environment.
func TestJobCarriesTheTrace(t *testing.T) {
	w := newWorld(t)
	w.template("report", `
effect:
  job: {template: {spec: {template: {spec: {containers: [{name: report, image: busybox}]}}}}}`)
	ctx, span := w.inSpan(5)
	w.submit(ctx, "report-5", "report")
	spans := w.spans("report-5", map[string]int{
		"admit submission": 1, "write record": 3, "execute effect": 1, "poll effect": 1, "write status": 1, // it executes, it was made, it runs
	})
	var jobs batchv1.JobList
	w.must(installation.api.List(t.Context(), &jobs, client.InNamespace(w.namespace)))
	if len(jobs.Items) != 1 {
		t.Fatalf("there are %d Jobs", len(jobs.Items))
	}
	for _, variable := range jobs.Items[0].Spec.Template.Spec.Containers[0].Env {
		if variable.Name == "TRACEPARENT" && variable.Value == carried(spans["execute effect"][0]) && spans["execute effect"][0].Trace == span.TraceID().String() {
			return
		}
	}
	t.Errorf("no variable names the span %+v: %v", spans["execute effect"], jobs.Items[0].Spec.Template.Spec.Containers[0].Env)
}

// TestPluginContinuesItsCallersTrace: OpenTelemetry hands a context on to a process in TRACEPARENT.
func TestPluginContinuesItsCallersTrace(t *testing.T) {
	const caller = "00-c6000000000000000000000000000001-c600000000000002-01"
	w := newWorld(t)
	w.asked("charge", "/plain/charges", "30s")
	w.plugin([]string{"TRACEPARENT=" + caller}, "submit", "charge", "--key=order-6", "--wait")
	if got := w.get("order-6").Annotations[v1alpha1.AnnotationTraceparent]; got != caller {
		t.Errorf("the submission carries %q", got)
	}
}

func (w *world) expect(span collector.Span, kind tracev1.Span_SpanKind, attempt, outcome string, wrong bool) {
	w.Helper()
	if span.Kind != kind || span.Attributes["taskonce.attempt"] != attempt || span.Attributes["taskonce.outcome"] != outcome || span.Wrong != wrong {
		w.Errorf("%s: kind %s, wrong %v, %v", span.Name, span.Kind, span.Wrong, span.Attributes)
	}
}

// heard compares the trace contexts that reached the receiver with the spans that sent them.
func (w *world) heard(entries []ledger.Entry, spans []collector.Span) {
	w.Helper()
	if len(entries) != len(spans) {
		w.Fatalf("the receiver heard %d times, of %d spans", len(entries), len(spans))
	}
	for i, span := range spans {
		if entries[i].Traceparent != carried(span) {
			w.Errorf("the receiver heard %s, and not the span %s", entries[i].Traceparent, carried(span))
		}
	}
}
