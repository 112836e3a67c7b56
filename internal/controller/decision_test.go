package controller_test

import (
	"context"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

func pinned(digest string) func(*v1alpha1.TaskDecisionSpec) {
	return func(spec *v1alpha1.TaskDecisionSpec) { spec.TemplateDigest = digest }
}

// digestIn finds the digest that a message tells an approval to pin.
func digestIn(message string) string {
	return regexp.MustCompile(`sha256:[0-9a-f]{64}`).FindString(message)
}

func judging(attempt int32) func(*v1alpha1.TaskDecisionSpec) {
	return func(spec *v1alpha1.TaskDecisionSpec) { spec.Attempt = attempt }
}

var _ = Describe("A decision", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	// unknown leaves a submission whose outcome nobody knows.
	unknown := func(happened bool, edits ...func(*v1alpha1.TaskTemplateSpec)) {
		GinkgoHelper()
		w.fake.SetTraits(silent())
		w.fake.On(1, effecttest.LostBefore())
		if happened {
			w.fake.On(1, effecttest.LostAfter())
		}
		w.template("work", edits...)
		w.submit("a")
		w.run("a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
	}
	// digest is what an approval must pin, as the message says it.
	digest := func() string {
		GinkgoHelper()
		w.run("a")
		w.expect("a", v1alpha1.PhasePending, v1alpha1.ReasonAwaitingApproval)
		return digestIn(w.status("a").Message)
	}

	It("approves", func() {
		w.template("work", approved)
		w.submit("a")
		decision := w.decide(v1alpha1.DecisionApprove, "a", pinned(digest()))
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		w.expectDecision(decision, v1alpha1.DecisionApplied)
		Expect(w.action("a").Approval.Name).To(Equal(decision.Name))
	})

	It("approves one effect only: an edit asks again", func() {
		w.template("work", approved)
		w.submit("a")
		old := digest()
		w.edit("work", anotherEffect)
		decision := w.decide(v1alpha1.DecisionApprove, "a", pinned(old))
		w.run("a")
		w.expect("a", v1alpha1.PhasePending, v1alpha1.ReasonAwaitingApproval)
		w.expectDecision(decision, v1alpha1.DecisionSuperseded)
		Expect(digest()).NotTo(Equal(old))
		Expect(w.fake.Calls()).To(BeEmpty())
	})

	It("does not approve without saying what", func() {
		w.template("work", approved)
		w.submit("a")
		w.run("a")
		decision := w.decide(v1alpha1.DecisionApprove, "a")
		w.run("a")
		Expect(w.expectDecision(decision, v1alpha1.DecisionRefused)).To(ContainSubstring("templateDigest"))
	})

	It("cancels what has not begun, before its approval for good (hazard 21)", func() {
		w.template("work", approved)
		w.submit("a")
		w.run("a")
		decision := w.decide(v1alpha1.DecisionCancel, "a")
		w.run("a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonCancelled)
		w.expectDecision(decision, v1alpha1.DecisionApplied)
		retry := w.decide(v1alpha1.DecisionRetry, "a")
		w.run("a")
		w.expectDecision(retry, v1alpha1.DecisionRefused)
		w.again("a") // nor does the cancelled action run after its submission was lost (hazard 9)
		w.run("a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonCancelled)
		Expect(w.fake.Calls()).To(BeEmpty())
	})

	It("approves once, of two in a hurry", func() {
		w.template("work", approved)
		w.submit("a")
		pins := pinned(digest())
		first, second := w.decide(v1alpha1.DecisionApprove, "a", pins), w.decide(v1alpha1.DecisionApprove, "a", pins)
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		w.expectDecision(first, v1alpha1.DecisionApplied)
		Expect(w.expectDecision(second, v1alpha1.DecisionSuperseded)).To(ContainSubstring("the current one is 1"))
		Expect(w.action("a").Approval.Name).To(Equal(first.Name))
	})

	It("does not approve what one has submitted oneself, where the template says so", func() {
		w.template("work", approved, func(spec *v1alpha1.TaskTemplateSpec) { spec.Approval.DistinctFromSubmitter = true })
		w.submit("a", func(s *v1alpha1.TaskSubmission) {
			s.Annotations = map[string]string{v1alpha1.AnnotationSubmittedBy: "ann"}
		})
		w.run("a")
		pins := pinned(digestIn(w.status("a").Message))
		own := w.decideAs("ann", v1alpha1.DecisionApprove, "a", pins)
		w.run("a")
		Expect(w.expectDecision(own, v1alpha1.DecisionRefused)).To(ContainSubstring("who submitted it cannot approve it"))
		Expect(w.fake.Calls()).To(BeEmpty())
		w.decideAs("ben", v1alpha1.DecisionApprove, "a", pins)
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.action("a").Approval.By).To(Equal("ben"))
		Expect(w.action("a").Approval.Reason).To(Equal("asked the receiver"))
		Expect(w.action("a").Approval.At.IsZero()).To(BeFalse())
	})

	It("cancels while its business key is held, and not while its attempt runs", func() {
		hold := make(chan struct{})
		w.fake.OnSubmission("a", 1, effecttest.Applies(`{}`).HeldAfter(hold))
		w.template("work", forOrder)
		w.submit("a")
		Eventually(func() int { _, _ = w.pass("a"); return len(w.fake.Calls(effecttest.Execute)) }).Should(Equal(1))
		w.submit("b")
		w.run("b")
		w.expect("b", v1alpha1.PhasePending, v1alpha1.ReasonBusinessKeyHeld)
		held := w.decide(v1alpha1.DecisionCancel, "b")
		w.run("b")
		w.expect("b", v1alpha1.PhaseFailed, v1alpha1.ReasonCancelled)
		w.expectDecision(held, v1alpha1.DecisionApplied)

		running := w.decide(v1alpha1.DecisionCancel, "a", judging(1))
		_, err := w.pass("a")
		Expect(err).NotTo(HaveOccurred())
		Expect(w.expectDecision(running, v1alpha1.DecisionRefused)).To(ContainSubstring("may have been applied"))
		close(hold)
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.sent("b")).To(BeZero())
	})

	It("that it was applied stands, against a verification under way that says no", func() {
		hold := make(chan struct{})
		w.fake.On(1, effecttest.LostBefore())
		w.fake.SetTraits(asked(0))
		w.fake.OnVerify(func(context.Context, effect.Attempt) (effect.Outcome, error) {
			<-hold
			return effect.Outcome{Kind: v1alpha1.OutcomeNotApplied}, nil
		})
		w.template("work")
		w.submit("a")
		w.clock.Step(time.Minute)
		Eventually(func() int { _, _ = w.pass("a"); return len(w.fake.Calls(effecttest.Verify)) }).Should(Equal(1))
		decision := w.decide(v1alpha1.DecisionConfirmApplied, "a", judging(1))
		for range 4 {
			_, err := w.pass("a")
			Expect(err).NotTo(HaveOccurred())
		}
		w.expectDecision(decision, v1alpha1.DecisionApplied)
		close(hold)
		w.run("a")
		w.expect("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonConfirmedApplied)
		Expect(w.sent("a")).To(Equal(1))
	})

	It("and another at once: one wins, the other is superseded", func() {
		unknown(true)
		first, second := w.decide(v1alpha1.DecisionConfirmApplied, "a"), w.decide(v1alpha1.DecisionConfirmNotApplied, "a")
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonConfirmedApplied)
		w.expectDecision(first, v1alpha1.DecisionApplied)
		Expect(w.expectDecision(second, v1alpha1.DecisionSuperseded)).To(ContainSubstring("came first"))
	})

	It("retries no success, and what was refused", func() {
		w.fake.OnSubmission("refused", 1, effecttest.Refuses("no such order"))
		w.template("work")
		w.submit("a")
		w.run("a")
		w.submit("refused")
		w.run("refused")
		futile := w.decide(v1alpha1.DecisionRetry, "a")
		w.run("a")
		Expect(w.expectDecision(futile, v1alpha1.DecisionRefused)).To(ContainSubstring("only a failed"))
		w.decide(v1alpha1.DecisionRetry, "refused")
		w.finish("refused")
		w.expectOnce("refused", v1alpha1.ReasonApplied)
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("cancels between attempts", func() {
		w.template("work")
		w.fake.On(1, effecttest.Busy("later"))
		w.submit("a")
		w.run("a")
		w.decide(v1alpha1.DecisionCancel, "a")
		w.run("a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonCancelled)
	})

	It("does not cancel what may have happened", func() {
		unknown(true)
		decision := w.decide(v1alpha1.DecisionCancel, "a")
		w.run("a")
		Expect(w.expectDecision(decision, v1alpha1.DecisionRefused)).To(ContainSubstring("ConfirmApplied"))
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
	})

	It("confirms that it was applied, with a result", func() {
		unknown(true)
		decision := w.decide(v1alpha1.DecisionConfirmApplied, "a", func(spec *v1alpha1.TaskDecisionSpec) {
			spec.Result = &apiextensionsv1.JSON{Raw: []byte(`{"receipt": 17}`)}
		})
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonConfirmedApplied)
		w.expectDecision(decision, v1alpha1.DecisionApplied)
		Expect(w.status("a").Result.Raw).To(MatchJSON(`{"receipt": 17}`))
		Expect(w.status("a").ResultDigest).NotTo(BeEmpty())
	})

	It("confirms that it was not applied; then a Retry may follow", func() {
		unknown(false)
		w.decide(v1alpha1.DecisionConfirmNotApplied, "a")
		w.run("a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonConfirmedNotApplied)
		retry := w.decide(v1alpha1.DecisionRetry, "a")
		w.finish("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		w.expectDecision(retry, v1alpha1.DecisionApplied)
		Expect(w.status("a").Attempts).To(Equal(int32(2)))
	})

	It("about an attempt that is over changes nothing", func() {
		unknown(true)
		decision := w.decide(v1alpha1.DecisionConfirmNotApplied, "a", judging(0))
		w.run("a")
		w.expectDecision(decision, v1alpha1.DecisionSuperseded)
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
	})

	It("about another submission of that name is refused", func() {
		unknown(true)
		decision := w.decide(v1alpha1.DecisionConfirmApplied, "a", func(spec *v1alpha1.TaskDecisionSpec) { spec.UID = "another" })
		w.run("a")
		w.expectDecision(decision, v1alpha1.DecisionRefused)
	})

	It("about a submission that never was is refused, whatever it is called", func() {
		for _, name := range []string{"nobody", "a/b", "..", "no name at all", strings.Repeat("x", 253)} {
			decision := w.decideBy(v1alpha1.TaskDecisionSpec{Submission: name, UID: "x", Action: v1alpha1.DecisionCancel, Reason: "why"})
			_, err := w.pass(name)
			Expect(err).NotTo(HaveOccurred(), name)
			w.expectDecision(decision, v1alpha1.DecisionRefused)
		}
		w.sweep()
	})

	It("names the record of a submission that is gone (hazard 13)", func() {
		unknown(true)
		record := w.record("a")
		w.remove("a")
		decision := w.decideBy(v1alpha1.TaskDecisionSpec{Submission: "a", UID: record.UID, Attempt: 1, Action: v1alpha1.DecisionConfirmApplied, Reason: "asked"})
		w.run("a")
		w.expectDecision(decision, v1alpha1.DecisionApplied)
		w.submit("a")
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonConfirmedApplied)
	})

	It("releases a business key, for a new submission", func() {
		w.template("work", forOrder)
		w.submit("a")
		w.run("a")
		decision := w.decide(v1alpha1.DecisionRelease, "a")
		w.run("a")
		w.expectDecision(decision, v1alpha1.DecisionApplied)
		w.expectOnce("a", v1alpha1.ReasonApplied)
		w.submit("b")
		w.run("b")
		w.expectOnce("b", v1alpha1.ReasonApplied)

		By("and, asked again after a crash, leaves the next holder's claim alone (hazard 18)")
		again := w.decide(v1alpha1.DecisionRelease, "a")
		w.run("a")
		w.expectDecision(again, v1alpha1.DecisionApplied)
		Expect(w.claim("b").Spec.Holder.Record).To(Equal(v1alpha1.RecordName("b")))

		By("and the old key still replays")
		w.again("a")
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.status("a").Replayed).To(BeTrue())
	})

	It("releases no other claim than the one that it read", func() {
		w.template("work", forOrder)
		w.submit("a")
		w.run("a")
		w.decide(v1alpha1.DecisionRelease, "a")
		w.faults.before("delete", claims, func() {
			claim := w.claim("a")
			claim.Spec.Holder.Record = "ik-another"
			Expect(admin.Update(ctx, claim)).To(Succeed())
		})
		w.run("a")
		Expect(w.claim("a")).NotTo(BeNil())
	})

	DescribeTable("takes effect once, whatever becomes of the writes", func(break_ func()) {
		unknown(false)
		w.decide(v1alpha1.DecisionConfirmNotApplied, "a")
		w.run("a")
		retry := w.decide(v1alpha1.DecisionRetry, "a")
		break_()
		for range 6 { // the cache does not hold what status calls finished
			_, _ = w.pass("a")
			w.landed("a")
		}
		w.run("a")
		w.expectDecision(retry, v1alpha1.DecisionApplied)
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.action("a").Retries).To(Equal(int32(1)))
	},
		Entry("the record's answer lost", func() { w.faults.lose("update", recordsIn(v1alpha1.PhaseProcessing)) }),
		Entry("the decision's answer lost", func() { w.faults.lose("status", decisions) }),
		Entry("the decision not written", func() { w.faults.refuse("status", decisions, 1, errInternal) }),
		Entry("the status not written", func() { w.faults.refuse("status", submissions, 1, errInternal) }),
		Entry("the status in conflict", func() { w.faults.refuse("status", submissions, 1, errConflict) }),
		Entry("the process dying before the status", func() {
			w.faults.refuse("status", submissions, 1, errConnection)
			_, err := w.pass("a")
			Expect(err).To(HaveOccurred())
			w.replaceProcess()
		}),
		Entry("the process dying after the status", func() {
			w.faults.refuse("status", decisions, 1, errConnection)
			_, err := w.pass("a")
			Expect(err).To(HaveOccurred())
			w.replaceProcess()
		}),
	)
})
