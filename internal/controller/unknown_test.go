package controller_test

import (
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

var _ = Describe("An outcome", func() {
	var w *world
	begin := func(traits effect.Traits, edits ...func(*v1alpha1.TaskTemplateSpec)) {
		GinkgoHelper()
		w.fake.SetTraits(traits)
		w.template("work", edits...)
		w.submit("a")
	}
	BeforeEach(func() { w = newWorld() })

	It("that is a refusal for good fails at once", func() {
		w.fake.On(1, effecttest.Refuses("no such order"))
		begin(asked(0))
		w.run("a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonRejected)
		Expect(w.status("a").Message).To(ContainSubstring("no such order"))
	})

	It("that is a refusal for now is tried again, with back-off, until the attempts are used up", func() {
		w.fake.SetDefault(effecttest.Busy("too busy"))
		begin(asked(0), atMost(3))
		first := w.run("a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying)
		second := w.after(first.RequeueAfter, "a")
		Expect(second.RequeueAfter).To(BeNumerically(">", first.RequeueAfter))
		w.after(second.RequeueAfter, "a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonRetriesExhausted)
		Expect(w.status("a").Attempts).To(Equal(int32(3)))
	})

	It("holds to Retry-After, also over a restart", func() {
		busy := effecttest.Busy("too busy")
		busy.Outcome.RetryAfter = 10 * time.Minute
		w.fake.On(1, busy)
		begin(asked(0))
		w.run("a")
		w.replaceProcess()
		Expect(w.after(9*time.Minute, "a").RequeueAfter).To(BeNumerically("~", time.Minute, time.Second))
		w.after(time.Minute, "a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("that is unknown is asked for, and found applied", func() {
		w.fake.On(1, effecttest.LostAfter())
		begin(asked(time.Minute))
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonVerifiedApplied)
		Expect(w.fake.Calls(effecttest.Execute)).To(HaveLen(1))
	})

	It("that a panic leaves open is unknown, and asked for", func() {
		w.fake.On(1, effecttest.Breaks())
		begin(asked(time.Minute))
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonVerifiedApplied)
		Expect(w.fake.Calls(effecttest.Execute)).To(HaveLen(1))
	})

	It("that is unknown is not believed to be nothing before its settling time (hazard 4)", func() {
		w.fake.On(1, effecttest.LostBefore())
		begin(asked(time.Minute))
		result := w.run("a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonVerifying)
		Expect(w.fake.Calls(effecttest.Verify)).To(HaveLen(1))
		Expect(result.RequeueAfter).To(Equal(90*time.Second), "the time-out and settleAfter")

		By("applying it late")
		w.clock.Step(89 * time.Second)
		w.fake.Finish(w.namespace + "/a")
		w.after(time.Second, "a")
		w.expectOnce("a", v1alpha1.ReasonVerifiedApplied)
		Expect(w.fake.Calls(effecttest.Execute)).To(HaveLen(1))
	})

	It("that is nothing after its settling time lets the next attempt begin", func() {
		w.fake.On(1, effecttest.LostBefore())
		begin(asked(time.Minute))
		result := w.run("a")
		w.after(result.RequeueAfter, "a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.status("a").Attempts).To(Equal(int32(2)))
	})

	It("that is nothing each time, after its settling time, is not tried for ever", func() {
		w.fake.SetDefault(effecttest.LostBefore())
		begin(asked(time.Minute), atMost(2))
		w.finish("a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonRetriesExhausted)
		Expect(w.status("a").Attempts).To(Equal(int32(2)))
		Expect(w.status("a").Message).To(ContainSubstring("verified after its settling time"))
	})

	It("that is unknown for good asks a person, and never fails", func() {
		w.fake.On(1, effecttest.LostAfter())
		w.fake.OnVerify(effecttest.Answers(effect.Outcome{}, errors.New("the receiver is down")))
		begin(asked(0), func(spec *v1alpha1.TaskTemplateSpec) { spec.Recovery.MaxChecks = 3 })
		w.finish("a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
		Expect(w.fake.Calls(effecttest.Verify)).To(HaveLen(3))
		Expect(w.status("a").Message).To(And(ContainSubstring("ConfirmApplied"), ContainSubstring("maxChecks")))
		w.clock.Step(240 * time.Hour)
		w.sweep("a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
	})

	DescribeTable("that is unknown asks a person at once", func(traits effect.Traits, edits ...func(*v1alpha1.TaskTemplateSpec)) {
		w.fake.On(1, effecttest.LostAfter())
		begin(traits, edits...)
		Expect(w.run("a").RequeueAfter).To(BeZero())
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
		Expect(w.fake.Calls()).To(HaveLen(1))
	},
		Entry("where nobody can be asked", silent()),
		Entry("in mode Manual", asked(0), byHand),
		Entry("in mode Manual, though a repeat were safe", remembering(time.Hour), byHand),
	)

	It("that is unknown is sent again to a receiver that remembers, under the same key", func() {
		w.fake.On(1, effecttest.LostAfter())
		begin(remembering(time.Hour))
		w.finish("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.sent("a")).To(Equal(2))
		calls := w.fake.Calls(effecttest.Execute)
		Expect(calls[0].Attempt.DownstreamKey).To(Equal(calls[1].Attempt.DownstreamKey))
	})

	It("that is unknown is not sent again once the receiver has forgotten (hazard 17)", func() {
		w.fake.On(1, effecttest.LostAfter())
		begin(remembering(time.Hour))
		w.run("a")
		w.after(2*time.Hour, "a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
		Expect(w.sent("a")).To(Equal(1))
	})

	DescribeTable("that is unknown is not settled by the refusal of a repeat (hazard 3)", func(refusal effecttest.Step) {
		w.fake.On(1, effecttest.LostBefore())
		w.fake.SetDefault(refusal)
		begin(remembering(24*time.Hour), atMost(1), func(spec *v1alpha1.TaskTemplateSpec) { spec.Recovery.MaxChecks = 3 })
		w.finish("a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
	},
		Entry("for good", effecttest.Refuses("422")),
		Entry("for now", effecttest.Busy("429")),
	)

	It("that is unknown is asked of nobody after the template's effect was edited (hazard 12)", func() {
		hold := make(chan struct{})
		w.fake.On(1, effecttest.LostAfter().HeldAfter(hold))
		begin(asked(0))
		_, err := w.pass("a")
		Expect(err).NotTo(HaveOccurred())
		w.awaitCall(effecttest.Execute, 1)
		w.edit("work", anotherEffect)
		close(hold)
		w.run("a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
		Expect(w.fake.Calls(effecttest.Verify)).To(BeEmpty())
		Expect(w.effects("a")).To(Equal(1))
	})

	It("that is in progress is polled until it is done", func() {
		w.fake.On(1, effecttest.Accepted("/jobs/1"))
		begin(asked(0))
		result := w.run("a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonInProgress)
		result = w.after(result.RequeueAfter, "a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonInProgress)
		Expect(w.fake.Calls(effecttest.Poll)[0].Attempt.Location).To(Equal("/jobs/1"))
		w.fake.Finish(w.namespace + "/a")
		w.after(result.RequeueAfter, "a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("that stays in progress is verified after stuckAfter, and waited on while the receiver says so", func() {
		w.fake.On(1, effecttest.Accepted("/jobs/1"))
		w.fake.OnVerify(effecttest.Answers(effect.Outcome{Kind: v1alpha1.OutcomeInProgress, Message: "still at it"}, nil))
		begin(asked(0), func(spec *v1alpha1.TaskTemplateSpec) { spec.Recovery.MaxChecks = 1 })
		w.run("a")
		result := w.after(5*time.Minute, "a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonInProgress)
		w.after(result.RequeueAfter, "a")
		Expect(len(w.fake.Calls(effecttest.Verify))).To(BeNumerically(">=", 2), "it spends no check")
		w.fake.OnVerify(nil)
		w.fake.Finish(w.namespace + "/a")
		w.finish("a")
		w.expectOnce("a", v1alpha1.ReasonVerifiedApplied)
	})
})
