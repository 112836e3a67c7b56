package controller_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

var _ = Describe("A judged decision", func() {
	const ttl = 24 * time.Hour
	var w *world
	BeforeEach(func() { w = newWorld() })

	It("goes with its record, whatever came of it, and is looked at no more until then", func() {
		w.template("work", approved, removedAfter(time.Hour), keptFor(ttl))
		w.submit("a")
		w.run("a")
		pins := pinned(digestIn(w.status("a").Message))
		for range 2 { // the second one is superseded
			w.decide(v1alpha1.DecisionApprove, "a", pins)
		}
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		w.decide(v1alpha1.DecisionCancel, "a", judging(1)) // and this one refused
		w.run("a")
		w.sweep()
		for _, decision := range w.decisions() {
			Expect(decision.Labels).To(HaveKeyWithValue(v1alpha1.LabelRecord, v1alpha1.RecordName("a")))
		}
		w.faults.takeNotes()
		w.sweep()
		Expect(w.faults.takeNotes()).To(BeEmpty())

		w.clock.Step(time.Hour + soon)
		w.sweep()
		Expect(w.gone("a")).To(BeTrue())
		Expect(w.decisions()).To(HaveLen(3))
		w.clock.Step(ttl - time.Hour)
		w.sweep()
		Expect(w.record("a")).To(BeNil())
		Expect(w.decisions()).To(BeEmpty())
	})

	It("stays as long as its record is asked for", func() {
		w.template("work", removedAfter(time.Hour), keptFor(ttl))
		w.fake.On(1, effecttest.Refuses("no such order"))
		w.submit("a")
		w.run("a")
		w.decide(v1alpha1.DecisionRetry, "a")
		w.finish("a")
		w.sweep()
		w.clock.Step(ttl - time.Minute)
		w.again("a") // which renews the record
		w.run("a")
		w.clock.Step(time.Minute + soon)
		w.sweep()
		Expect(w.decisions()).To(HaveLen(1))
		w.clock.Step(time.Hour + soon)
		w.sweep() // which removes the submission
		w.clock.Step(ttl)
		w.sweep()
		Expect(w.record("a")).To(BeNil())
		Expect(w.decisions()).To(BeEmpty())
	})

	It("stays where records are kept, and while its action goes on", func() {
		w.fake.SetTraits(silent())
		w.fake.OnSubmission("unknown", 1, effecttest.LostBefore())
		w.template("work", keepsRecords, removedAfter(time.Hour))
		for _, name := range []string{"a", "unknown"} {
			w.submit(name)
			w.run(name)
			w.decide(v1alpha1.DecisionCancel, name, judging(1))
			w.run(name)
		}
		for range 3 {
			w.sweep()
			w.clock.Step(1000 * ttl)
		}
		w.sweep()
		Expect(w.decisions()).To(HaveLen(2))
		Expect(w.record("a")).NotTo(BeNil())
		Expect(w.gone("a")).To(BeTrue())
	})

	It("goes with a record that no sweep has met", func() {
		w.template("work", approved, keptFor(ttl))
		w.submit("a")
		w.run("a")
		w.decide(v1alpha1.DecisionApprove, "a", pinned(digestIn(w.status("a").Message)))
		w.run("a")
		w.decide(v1alpha1.DecisionCancel, "a", judging(1)) // which is refused
		w.run("a")
		w.remove("a")
		w.clock.Step(ttl + soon)
		w.sweep()
		Expect(w.record("a")).To(BeNil())
		Expect(w.decisions()).To(BeEmpty())
	})

	It("about nothing stays for thirty days", func() {
		w.decideBy(v1alpha1.TaskDecisionSpec{Submission: "nobody", UID: "x", Action: v1alpha1.DecisionCancel, Reason: "why"})
		w.run("nobody")
		for range 2 {
			w.sweep()
			w.clock.Step(29 * ttl)
		}
		Expect(w.decisions()).To(HaveLen(1))
		w.sweep()
		Expect(w.decisions()).To(BeEmpty())
	})

	It("is left alone where somebody changed it since it was read", func() {
		w.decideBy(v1alpha1.TaskDecisionSpec{Submission: "nobody", UID: "x", Action: v1alpha1.DecisionCancel, Reason: "why"})
		w.run("nobody")
		w.clock.Step(31 * ttl)
		w.faults.before("delete", decisions, func() {
			decision := w.decisions()[0]
			decision.Labels = map[string]string{"example.com/case": "7"}
			Expect(admin.Update(ctx, &decision)).To(Succeed())
		})
		w.sweep()
		Expect(w.decisions()).To(HaveLen(1))
	})

	It("is none while it is pending, which it is no longer when its submission is gone", func() {
		w.submit("a") // there is no template, so that an approval waits, too
		w.run("a")
		decision := w.decide(v1alpha1.DecisionApprove, "a", pinned("sha256:whatever"))
		w.run("a")
		w.clock.Step(1000 * ttl)
		w.sweep()
		w.expectDecision(decision, v1alpha1.DecisionPending)
		w.remove("a")
		w.run("a")
		w.expectDecision(decision, v1alpha1.DecisionRefused)
		w.sweep()
		Expect(w.decisions()).To(BeEmpty())
	})
})

// decisions are all of the namespace.
func (w *world) decisions() []v1alpha1.TaskDecision {
	GinkgoHelper()
	list := &v1alpha1.TaskDecisionList{}
	Expect(admin.List(ctx, list, client.InNamespace(w.namespace))).To(Succeed())
	return list.Items
}
