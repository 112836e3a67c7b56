package controller_test

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
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

// events returns what was told of an object, as reason and count.
func (w *world) events(kind, name string) []string {
	GinkgoHelper()
	list := &eventsv1.EventList{}
	Expect(admin.List(ctx, list, client.InNamespace(w.namespace))).To(Succeed())
	var all []string
	for i := range list.Items {
		event := &list.Items[i]
		if event.Regarding.Kind != kind || event.Regarding.Name != name {
			continue
		}
		n := int32(1)
		if event.Series != nil {
			n = event.Series.Count
		}
		all = append(all, fmt.Sprintf("%s %s %d: %s", event.Type, event.Reason, n, event.Note))
	}
	return all
}

// decideAtOnce makes a decision that is somebody's from its creation on.
func (w *world) decideAtOnce(person string, action v1alpha1.DecisionAction, name, digest string) {
	GinkgoHelper()
	submission := w.submission(name)
	Expect(admin.Create(ctx, &v1alpha1.TaskDecision{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, GenerateName: "by-" + person + "-", Annotations: map[string]string{v1alpha1.AnnotationDecidedBy: person}},
		Spec: v1alpha1.TaskDecisionSpec{
			Submission: name, UID: submission.UID, Attempt: submission.Status.Attempts, Action: action, Reason: "asked the receiver", TemplateDigest: digest,
		},
	})).To(Succeed())
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

	It("is told people once, where they care about it, and nothing else is", func() {
		w := newManaged()
		w.fake.OnSubmission("lost", 1, effecttest.LostAfter())
		w.template("careful", approved)
		w.template("work", byHand)
		w.submit("asks", under("careful"))
		w.eventually("asks", v1alpha1.PhasePending, v1alpha1.ReasonAwaitingApproval)
		w.decideAtOnce("jo", v1alpha1.DecisionApprove, "asks", digestIn(w.status("asks").Message))
		w.eventually("asks", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		w.submit("lost")
		w.eventually("lost", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
		w.decideAtOnce("jo", v1alpha1.DecisionCancel, "lost", "")
		w.submit("good")
		w.eventually("good", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		w.template("wrong", func(spec *v1alpha1.TaskTemplateSpec) { spec.BusinessKey = "${params.nothing(" })

		Eventually(func() []string { return w.events("TaskSubmission", "asks") }).Should(ConsistOf(
			HavePrefix("Normal AwaitingApproval 1: "), HavePrefix("Normal Approved 1: by jo: ")))
		Eventually(func() []string { return w.events("TaskSubmission", "lost") }).Should(ConsistOf(
			HavePrefix("Warning OutcomeUnknown 1: "), HavePrefix("Warning DecisionRefused 1: ")))
		Eventually(func() []string { return w.events("TaskTemplate", "wrong") }).Should(ConsistOf(HavePrefix("Warning Invalid 1: ")))
		Expect(w.events("TaskSubmission", "good")).To(BeEmpty())
		Expect(w.events("TaskTemplate", "work")).To(BeEmpty())
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
