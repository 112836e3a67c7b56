package controller_test

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

// counted returns the counters and the counts of durations that have moved for a template, one a line.
func counted(template string) string {
	GinkgoHelper()
	families, err := metrics.Registry.Gather()
	Expect(err).NotTo(HaveOccurred())
	var all []string
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels, ours := []string{}, false
			for _, label := range metric.GetLabel() {
				if label.GetName() == "template" {
					ours = label.GetValue() == template
					continue
				}
				labels = append(labels, label.GetValue())
			}
			n := metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
			if name := strings.TrimPrefix(family.GetName(), "taskonce_"); ours && n > 0 && name != "queue_duration_seconds" {
				all = append(all, fmt.Sprintf("%s %s %v", name, strings.Join(labels, "/"), n))
			}
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

var _ = Describe("What can be seen of a running operator", func() {
	It("is counted once each, by what came of it", func() {
		w := newManaged()
		w.fake.OnSubmission("refused", 1, effecttest.Refuses("no such order"))
		w.fake.OnSubmission("busy", 1, effecttest.Busy("later"))
		w.fake.OnSubmission("lost", 1, effecttest.LostAfter())
		w.template("seen", forOrder, byHand)
		ends := map[string]v1alpha1.Reason{
			"good": v1alpha1.ReasonApplied, "busy": v1alpha1.ReasonApplied, "refused": v1alpha1.ReasonRejected, "lost": v1alpha1.ReasonOutcomeUnknown,
		}
		for name := range ends {
			w.submit(name, under("seen"), with(`{"order":"`+name+`"}`))
		}
		for name, reason := range ends {
			w.eventually(name, phaseOf(reason), reason)
		}
		w.submit("second", under("seen"), with(`{"order":"good"}`))
		w.eventually("second", v1alpha1.PhaseSuccess, v1alpha1.ReasonAlreadyApplied)
		w.again("good", under("seen"), with(`{"order":"good"}`))
		w.eventually("good", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		w.decide(v1alpha1.DecisionConfirmApplied, "lost")
		w.eventually("lost", v1alpha1.PhaseSuccess, v1alpha1.ReasonConfirmedApplied)
		Eventually(func() string { return counted("seen") }).Should(Equal(strings.Join([]string{
			"attempts_begun_total http 6",
			"attempts_total http/Applied 2",
			"attempts_total http/NeverSent 1",
			"attempts_total http/NotApplied 2",
			"attempts_total http/Unknown 1",
			"business_key_conflicts_total  1",
			"effect_duration_seconds http/Applied 2",
			"effect_duration_seconds http/NotApplied 2",
			"effect_duration_seconds http/Unknown 1",
			"recoveries_total AskedPerson 1",
			"recoveries_total ConfirmedApplied 1",
			"submission_duration_seconds Failed 1",
			"submission_duration_seconds Success 4",
			"submissions_finished_total Failed/Rejected 1",
			"submissions_finished_total Success/AlreadyApplied 1",
			"submissions_finished_total Success/Applied 2",
			"submissions_finished_total Success/ConfirmedApplied 1",
			"submissions_replayed_total Success 1",
		}, "\n")))
	})
})

func phaseOf(reason v1alpha1.Reason) v1alpha1.Phase {
	for phase, all := range reasons {
		if slices.Contains(all, reason) {
			return phase
		}
	}
	return ""
}
