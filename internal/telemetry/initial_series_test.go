package telemetry

import (
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// TestTemplateIsMetAtZero: whatever happens with it later, its counters are there before, so that the first event is an
// increase.
func TestTemplateIsMetAtZero(t *testing.T) {
	ShowTemplate("met", "http")
	before := seriesOf(t, "met")
	if len(before) < 30 {
		t.Fatalf("only %d series are shown", len(before))
	}
	for _, found := range []string{"pending", "processing", "success", "failed", "mismatch"} {
		Duplicates.WithLabelValues("met", found)
	}
	for phase, reasons := range ends {
		for _, reason := range reasons {
			for _, from := range []*v1alpha1.Action{
				{Phase: v1alpha1.PhaseProcessing, Reason: v1alpha1.ReasonExecuting, Attempt: v1alpha1.Attempt{Number: 1}},
				{Phase: v1alpha1.PhaseProcessing, Reason: v1alpha1.ReasonOutcomeUnknown, Unsettled: true, Attempt: v1alpha1.Attempt{Number: 1, Outcome: v1alpha1.OutcomeUnknown}},
			} {
				for _, outcome := range []v1alpha1.Outcome{v1alpha1.OutcomeApplied, v1alpha1.OutcomeNotApplied, v1alpha1.OutcomeUnknown} {
					after := &v1alpha1.Action{Phase: phase, Reason: reason, Attempt: v1alpha1.Attempt{Number: 1, Outcome: outcome}}
					countStored(&Transition{TemplateLabel: "met", Effect: "http", Before: from, After: after, Ran: outcome == v1alpha1.OutcomeApplied})
				}
			}
		}
	}
	for _, series := range seriesOf(t, "met") {
		if !slices.Contains(before, series) {
			t.Errorf("%s is not there before it counts", series)
		}
	}
	ForgetTemplate("met")
	if left := seriesOf(t, "met"); len(left) > 0 {
		t.Errorf("%d series outlive their template, such as %s", len(left), left[0])
	}
}

// seriesOf returns the series of a template, by name and labels.
func seriesOf(t *testing.T, template string) (all []string) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			text, mine := family.GetName(), false
			for _, label := range metric.GetLabel() {
				text += " " + label.GetName() + "=" + label.GetValue()
				mine = mine || label.GetName() == labelTemplate && label.GetValue() == template
			}
			if mine {
				all = append(all, text)
			}
		}
	}
	return all
}
