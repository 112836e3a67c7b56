package controller_test

import (
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

var _ = Describe("That it was not applied, said of a receiver that can be made to refuse it", func() {
	var w *world
	down := effecttest.Answers(effect.Outcome{}, errors.New("the database is down"))
	BeforeEach(func() {
		w = newWorld()
		w.fake.SetTraits(effect.Traits{Timeout: 30 * time.Second, Verifies: true, Forbids: true, VerifyTimeout: 30 * time.Second})
		w.fake.On(1, effecttest.LostBefore())
		w.template("work", byHand)
		w.submit("a")
		w.run("a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
	})
	late := func() v1alpha1.Outcome {
		GinkgoHelper()
		attempt := w.fake.Calls(effecttest.Execute)[0].Attempt
		w.fake.On(1, effecttest.Applies(`{}`))
		outcome, err := w.fake.Execute(ctx, attempt)
		Expect(err).NotTo(HaveOccurred())
		return outcome.Kind
	}

	It("is stored when the receiver refuses it; a Retry may follow", func() {
		decision := w.decide(v1alpha1.DecisionConfirmNotApplied, "a")
		w.run("a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonConfirmedNotApplied)
		w.expectDecision(decision, v1alpha1.DecisionApplied)
		Expect(w.fake.Calls(effecttest.Forbid)).To(HaveLen(1))
		Expect(late()).To(Equal(v1alpha1.OutcomeNotApplied))
		w.decide(v1alpha1.DecisionRetry, "a")
		w.finish("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("is wrong where the receiver has it", func() {
		w.fake.Finish(w.namespace + "/a")
		decision := w.decide(v1alpha1.DecisionConfirmNotApplied, "a")
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonVerifiedApplied)
		Expect(w.expectDecision(decision, v1alpha1.DecisionSuperseded)).To(ContainSubstring("it was applied"))
	})

	DescribeTable("waits for a receiver that is down, and is not lost", func(meanwhile func(), expected v1alpha1.Reason) {
		w.fake.OnForbid(down)
		decision := w.decide(v1alpha1.DecisionConfirmNotApplied, "a", func(spec *v1alpha1.TaskDecisionSpec) { spec.UID = w.record("a").UID })
		result := w.run("a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
		Expect(w.expectDecision(decision, v1alpha1.DecisionPending)).To(ContainSubstring("the database is down"))
		Expect(w.status("a").Message).To(ContainSubstring("the database is down"))
		Expect(result.RequeueAfter).To(Equal(lifecycle.HeldInterval))
		Expect(w.fake.Calls(effecttest.Forbid)).To(HaveLen(1))
		w.fake.OnForbid(nil)
		meanwhile()
		w.after(lifecycle.HeldInterval, "a")
		Expect(w.action("a").Reason).To(Equal(expected))
		Expect(w.expectDecision(decision, v1alpha1.DecisionApplied)).To(Equal("done"))
	},
		Entry("by itself", func() {}, v1alpha1.ReasonConfirmedNotApplied),
		Entry("over a restart", func() { w.replaceProcess() }, v1alpha1.ReasonConfirmedNotApplied),
		Entry("where the submission is gone, and its record is meant", func() { w.remove("a") }, v1alpha1.ReasonConfirmedNotApplied),
	)

	It("waits for a slot where the submission is gone, and is not lost", func() {
		hold := make(chan struct{})
		w.fake.OnSubmission("slow", 1, effecttest.Applies(`{}`).HeldAfter(hold))
		w.edit("work", func(spec *v1alpha1.TaskTemplateSpec) { spec.Limits.MaxInFlight = 1 })
		w.submit("slow")
		_, err := w.pass("slow")
		Expect(err).NotTo(HaveOccurred())
		decision := w.decide(v1alpha1.DecisionConfirmNotApplied, "a", func(spec *v1alpha1.TaskDecisionSpec) { spec.UID = w.record("a").UID })
		w.remove("a")
		Expect(w.run("a").RequeueAfter).To(Equal(lifecycle.HeldInterval), "whatever wakes it")
		Expect(w.fake.Calls(effecttest.Forbid)).To(BeEmpty())
		Expect(w.op.Usage()).To(ConsistOf(HaveField("Queued", 1)), "so that it is woken in its turn")
		close(hold)
		w.run("slow")
		w.run("a")
		Expect(w.action("a").Reason).To(Equal(v1alpha1.ReasonConfirmedNotApplied))
		w.expectDecision(decision, v1alpha1.DecisionApplied)
	})

	It("leaves the last word to whoever is first while it waits", func() {
		w.fake.OnForbid(down)
		waits := w.decide(v1alpha1.DecisionConfirmNotApplied, "a")
		w.run("a")
		w.fake.Finish(w.namespace + "/a")
		w.decide(v1alpha1.DecisionConfirmApplied, "a")
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonConfirmedApplied)
		w.expectDecision(waits, v1alpha1.DecisionSuperseded)
	})

	It("is tried again where the process dies before it is stored", func() {
		decision := w.decide(v1alpha1.DecisionConfirmNotApplied, "a")
		w.faults.refuse("update", recordsIn(v1alpha1.PhaseFailed), 1, errConnection)
		w.passesUntilAnError("a")
		w.replaceProcess()
		w.run("a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonConfirmedNotApplied)
		w.expectDecision(decision, v1alpha1.DecisionApplied)
		Expect(w.fake.Calls(effecttest.Forbid)).To(HaveLen(2))
	})
})
