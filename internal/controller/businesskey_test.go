package controller_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// claim returns the claim that a submission's record names, or nil.
func (w *world) claim(name string) *v1alpha1.TaskRecord {
	GinkgoHelper()
	list := &v1alpha1.TaskRecordList{}
	Expect(admin.List(ctx, list)).To(Succeed())
	for i := range list.Items {
		if list.Items[i].Namespace == w.namespace && list.Items[i].Name == w.action(name).Claim {
			return &list.Items[i]
		}
	}
	return nil
}

var _ = Describe("A business key", func() {
	var w *world
	BeforeEach(func() {
		w = newWorld()
		w.fake.SetDefault(effecttest.Applies(`{"receipt": 17}`))
	})
	// holding leaves the first submission in the middle of its effect.
	holding := func(step effecttest.Step, edits ...func(*v1alpha1.TaskTemplateSpec)) (release func()) {
		GinkgoHelper()
		hold := make(chan struct{})
		w.fake.OnSubmission("first", 1, step.HeldAfter(hold))
		w.template("work", append(edits, forOrder)...)
		w.submit("first")
		_, err := w.pass("first")
		Expect(err).NotTo(HaveOccurred())
		w.awaitCall(effecttest.Execute, 1)
		w.submit("second")
		w.run("second")
		w.expect("second", v1alpha1.PhasePending, v1alpha1.ReasonBusinessKeyHeld)
		return func() {
			GinkgoHelper()
			close(hold)
			w.run("first")
		}
	}

	It("has one effect and one result, whatever the keys (I7)", func() {
		w.template("work", forOrder)
		w.submit("first")
		w.run("first")
		w.submit("second")
		w.run("second")
		w.expect("second", v1alpha1.PhaseSuccess, v1alpha1.ReasonAlreadyApplied)
		first, second := w.status("first"), w.status("second")
		Expect(second.DuplicateOf).To(Equal("first"))
		Expect(second.BusinessKey).To(Equal("7"))
		Expect(second.Result.Raw).To(MatchJSON(first.Result.Raw))
		Expect(second.ResultDigest).To(Equal(first.ResultDigest))
		Expect(second.Message).NotTo(ContainSubstring("although"))
		Expect(w.effects("second")).To(BeZero())
	})

	It("says so when the parameters differ (hazard 25)", func() {
		w.template("work", forOrder)
		w.submit("first")
		w.run("first")
		w.submit("second", with(`{"order":"7","points":99}`))
		w.run("second")
		w.expect("second", v1alpha1.PhaseSuccess, v1alpha1.ReasonAlreadyApplied)
		Expect(w.status("second").Message).To(ContainSubstring("although the parameters differ"))
	})

	It("refuses the second one under the policy Fail", func() {
		w.template("work", forOrder, failsOnConflict)
		w.submit("first")
		w.run("first")
		w.submit("second")
		w.run("second")
		w.expect("second", v1alpha1.PhaseFailed, v1alpha1.ReasonBusinessKeyConflict)
		Expect(w.status("second").Result).To(BeNil())
		Expect(w.effects("second")).To(BeZero())
	})

	It("is each template's own", func() {
		w.template("work", forOrder)
		w.template("other", forOrder)
		w.submit("first")
		w.submit("second", under("other"))
		w.run("first")
		w.run("second")
		w.expectOnce("first", v1alpha1.ReasonApplied)
		w.expectOnce("second", v1alpha1.ReasonApplied)
	})

	It("holds the second one back until the first has succeeded", func() {
		release := holding(effecttest.Applies(`{"receipt": 17}`))
		release()
		w.run("second")
		w.expect("second", v1alpha1.PhaseSuccess, v1alpha1.ReasonAlreadyApplied)
		Expect(w.effects("second")).To(BeZero())
	})

	It("passes on when the first has failed, and is not given back by a Retry (hazard 2)", func() {
		release := holding(effecttest.Refuses("no such order"))
		release()
		w.finish("second")
		w.expectOnce("second", v1alpha1.ReasonApplied)
		Expect(w.claim("first").Spec.Holder.Record).To(Equal(v1alpha1.RecordName("second")))

		w.decide(v1alpha1.DecisionRetry, "first")
		w.run("first")
		w.expect("first", v1alpha1.PhaseSuccess, v1alpha1.ReasonAlreadyApplied)
		Expect(w.effects("first")).To(BeZero())
	})

	It("is claimed again by a Retry, so that a take-over decided before meets another version (hazard 2)", func() {
		w.fake.On(1, effecttest.Refuses("no such order"))
		w.template("work", forOrder)
		w.submit("first")
		w.run("first")
		before := w.claim("first").ResourceVersion
		w.decide(v1alpha1.DecisionRetry, "first")
		w.run("first")
		w.expectOnce("first", v1alpha1.ReasonApplied)
		claim := w.claim("first")
		Expect(claim.ResourceVersion).NotTo(Equal(before))
		Expect(claim.Spec.Holder.Retries).To(Equal(int32(1)))
	})

	It("is not passed on while the first one's outcome is unknown", func() {
		w.fake.SetTraits(silent())
		release := holding(effecttest.LostAfter())
		release()
		w.expect("first", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
		w.after(24*time.Hour, "second")
		w.expect("second", v1alpha1.PhasePending, v1alpha1.ReasonBusinessKeyHeld)
		w.decide(v1alpha1.DecisionConfirmApplied, "first")
		w.run("first")
		w.after(lifecycle.HeldInterval, "second")
		w.expect("second", v1alpha1.PhaseSuccess, v1alpha1.ReasonAlreadyApplied)
	})

	DescribeTable("held by what was left alone names the decision that gives it free", func(retention func(*v1alpha1.TaskTemplateSpec)) {
		w.fake.OnSubmission("first", 1, effecttest.Busy("later"))
		w.template("work", forOrder, retention)
		w.submit("first")
		w.run("first")
		w.remove("first")
		w.clock.Step(time.Minute)
		w.sweep()
		w.submit("second")
		w.run("second")
		w.expect("second", v1alpha1.PhasePending, v1alpha1.ReasonBusinessKeyHeld)
		holder := w.record("first")
		Expect(w.status("second").Message).To(ContainSubstring("action Cancel, submission first, uid %s and attempt 1", holder.UID))

		w.decideBy(v1alpha1.TaskDecisionSpec{Submission: "first", UID: holder.UID, Attempt: 1, Action: v1alpha1.DecisionCancel, Reason: "nobody wants it any more"})
		w.run("first")
		w.after(lifecycle.HeldInterval, "second")
		w.expectOnce("second", v1alpha1.ReasonApplied)
	},
		Entry("until it expires", keptFor(time.Hour)),
		Entry("for good", keepsRecords),
	)

	It("is not free because its holder's record is gone (hazard 1, 20)", func() {
		release := holding(effecttest.Applies(`{}`))
		Expect(admin.Delete(ctx, w.record("first"))).To(Succeed())
		w.after(time.Hour, "second")
		w.expect("second", v1alpha1.PhasePending, v1alpha1.ReasonBusinessKeyHeld)
		release()
	})

	It("ends a wait by notAfter, and by Cancel", func() {
		release := holding(effecttest.Applies(`{}`))
		w.submit("third", notAfter(w.clock.Now().Add(time.Hour)))
		w.run("third")
		w.after(time.Hour, "third")
		w.expect("third", v1alpha1.PhaseFailed, v1alpha1.ReasonTooLate)
		w.decide(v1alpha1.DecisionCancel, "second")
		w.run("second")
		w.expect("second", v1alpha1.PhaseFailed, v1alpha1.ReasonCancelled)
		release()
	})

	DescribeTable("is claimed before anything is sent, whatever becomes of the claim's answer", func(break_ func()) {
		w.template("work", forOrder)
		w.submit("first")
		break_()
		w.run("first")
		w.expectOnce("first", v1alpha1.ReasonApplied)
		Expect(w.claim("first").Spec.Holder.Record).To(Equal(v1alpha1.RecordName("first")))
		Expect(w.sent("first")).To(Equal(1))
	},
		Entry("lost", func() { w.faults.lose("create", claims) }),
		Entry("an error", func() { w.faults.refuse("create", claims, 2, errInternal) }),
	)

	DescribeTable("that was claimed late finds the template as it is then (hazard 12)", func(change func()) {
		w.template("work", forOrder)
		w.submit("first")
		w.faults.refuse("create", claims, 1, errInternal)
		_, err := w.pass("first")
		Expect(err).To(HaveOccurred())
		digest := w.action("first").EffectDigest
		change()
		w.run("first")
		for _, call := range w.fake.Calls(effecttest.Execute) {
			Expect(call.Attempt.Number).NotTo(Equal(int32(1)), "attempt 1 was begun under %s and not under the template as it is now", digest)
		}
	},
		Entry("edited", func() { w.edit("work", anotherEffect) }),
		Entry("deleted", func() { Expect(admin.Delete(ctx, newTemplate(w.namespace, "work"))).To(Succeed()) }),
		Entry("and the submission gone", func() { w.remove("first") }),
		Entry("and the submission another one", func() { w.template("other"); w.again("first", under("other")) }),
	)
})
