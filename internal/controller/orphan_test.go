package controller_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

var _ = Describe("An attempt whose process is gone", func() {
	const lost = 30*time.Second + lifecycle.Grace
	var (
		w    *world
		hold chan struct{}
	)
	// dies has a process die in the middle of an attempt, whose effect happens or not.
	dies := func(step effecttest.Step) {
		GinkgoHelper()
		w.fake.On(1, step.HeldAfter(hold))
		w.submit("a")
		_, err := w.pass("a")
		Expect(err).NotTo(HaveOccurred())
		w.awaitCall(effecttest.Execute, 1)
		w.replaceProcess()
	}
	BeforeEach(func() {
		w = newWorld()
		hold = make(chan struct{})
		DeferCleanup(func() { close(hold) })
	})

	It("is waited for on the finder's own clock, its whole time-out and a grace, then asked for", func() {
		w.template("work")
		dies(effecttest.Applies(`{}`))
		w.clock.Step(time.Hour) // however long ago it was begun
		Expect(w.run("a").RequeueAfter).To(Equal(lost))
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting)
		Expect(w.after(lost-time.Second, "a").RequeueAfter).To(Equal(time.Second))
		Expect(w.fake.Calls(effecttest.Verify)).To(BeEmpty())
		w.after(time.Second, "a")
		w.expectOnce("a", v1alpha1.ReasonVerifiedApplied)
	})

	It("is waited for as long as its own time-out was, though the template's is shorter now (hazard 5)", func() {
		w.template("work")
		dies(effecttest.Applies(`{}`))
		traits := asked(0)
		traits.Timeout = time.Second
		w.fake.SetTraits(traits)
		w.edit("work", byHand)
		w.replaceProcess()
		Expect(w.run("a").RequeueAfter).To(Equal(lost))
	})

	It("is waited for anew when its record changed meanwhile", func() {
		w.template("work")
		dies(effecttest.Applies(`{}`))
		w.run("a")
		w.clock.Step(lost - time.Second)
		record := w.record("a")
		record.Labels["touched"] = "yes"
		Expect(admin.Update(ctx, record)).To(Succeed())
		Expect(w.run("a").RequeueAfter).To(Equal(lost))
	})

	It("runs again only after the settling time when the receiver has nothing", func() {
		w.fake.SetTraits(asked(time.Minute))
		w.template("work")
		dies(effecttest.LostBefore())
		result := w.run("a")
		result = w.after(result.RequeueAfter, "a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonVerifying)
		Expect(result.RequeueAfter).To(Equal(time.Minute-lifecycle.Grace), "the time-out and settleAfter, since it was first seen")
		w.after(result.RequeueAfter, "a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("that was stopped before it held the business key was never sent", func() {
		w.fake.SetTraits(silent())
		w.template("work", forOrder)
		w.faults.lose("create", claims) // so it is not launched; then the process dies
		w.submit("a")
		_, err := w.pass("a")
		Expect(err).To(HaveOccurred())
		Expect(w.fake.Calls()).To(BeEmpty())
		Expect(admin.Delete(ctx, w.claim("a"))).To(Succeed()) // as if it had died before the claim
		w.replaceProcess()
		w.run("a")
		w.after(lost, "a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.sent("a")).To(Equal(1))
		Expect(w.action("a").History[0].Outcome).To(Equal(v1alpha1.OutcomeNotApplied))
	})

	It("that held the business key may have been sent", func() {
		w.fake.SetTraits(silent())
		w.template("work", forOrder)
		dies(effecttest.Applies(`{}`))
		w.run("a")
		w.after(lost, "a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
	})

	It("stores what it came to when the process was only slow (hazard 16)", func() {
		w.template("work")
		slow := make(chan struct{})
		w.fake.On(1, effecttest.Applies(`{"receipt": 17}`).HeldAfter(slow))
		w.submit("a")
		_, err := w.pass("a")
		Expect(err).NotTo(HaveOccurred())
		w.awaitCall(effecttest.Execute, 1)

		By("another process taking it over and finding nothing, as the effect cannot be seen yet")
		first := w.op
		w.fake.SetTraits(silent())
		w.edit("work", byHand)
		w.replaceProcess()
		w.run("a")
		w.after(lost, "a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)

		close(slow)
		w.op = first
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.status("a").Result.Raw).To(MatchJSON(`{"receipt": 17}`))
	})
})
