package controller_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

var _ = Describe("The due loop", func() {
	const ttl = 24 * time.Hour
	var w *world
	BeforeEach(func() { w = newWorld() })

	It("clears up what was deleted in flight when its process died too (hazard 13)", func() {
		hold := make(chan struct{})
		DeferCleanup(func() { close(hold) })
		w.fake.On(1, effecttest.LostAfter().HeldAfter(hold))
		w.template("work", forOrder)
		w.submit("a")
		_, err := w.pass("a")
		Expect(err).NotTo(HaveOccurred())
		w.awaitCall(effecttest.Execute, 1)
		w.remove("a")
		w.replaceProcess()

		By("looking only when the attempt must be over")
		w.faults.takeNotes()
		w.sweep()
		Expect(w.faults.takeNotes()).To(BeEmpty())
		const lost = 30*time.Second + lifecycle.Grace
		w.clock.Step(lost + 2*time.Second)
		w.sweep()
		Expect(w.action("a").Attempt.Open()).To(BeTrue(), "it was only now seen first")
		w.clock.Step(lost)
		w.sweep("a")
		Expect(w.action("a").Reason).To(Equal(v1alpha1.ReasonVerifiedApplied))

		By("so that the business key is not blocked")
		w.submit("b")
		w.run("b")
		w.expect("b", v1alpha1.PhaseSuccess, v1alpha1.ReasonAlreadyApplied)
	})

	It("asks again for an unknown outcome whose submission is gone, and begins nothing for it", func() {
		w.fake.SetTraits(asked(time.Minute))
		w.fake.On(1, effecttest.LostBefore())
		w.template("work")
		w.submit("a")
		result := w.run("a")
		w.remove("a")
		w.run("a")
		for range 2 { // the settling time is counted anew, from when the sweep first saw it
			w.clock.Step(result.RequeueAfter + 2*time.Second)
			w.sweep("a")
		}
		Expect(w.action("a").Unsettled).To(BeFalse())
		w.clock.Step(time.Hour)
		w.sweep("a")
		Expect(w.fake.Calls(effecttest.Execute)).To(HaveLen(1))

		By("which goes on when it is applied again")
		w.submit("a")
		w.finish("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.status("a").Attempts).To(Equal(int32(2)))
	})

	It("goes on in its turn where an unknown outcome waits for a slot", func() {
		hold := make(chan struct{})
		w.fake.SetTraits(asked(time.Minute))
		w.fake.OnSubmission("a", 1, effecttest.LostBefore())
		w.fake.OnSubmission("slow", 1, effecttest.Applies(`{}`).HeldAfter(hold))
		w.template("work", func(spec *v1alpha1.TaskTemplateSpec) { spec.Limits.MaxInFlight = 1 })
		w.submit("a")
		result := w.run("a")
		w.remove("a")
		w.run("a")
		w.submit("slow")
		_, err := w.pass("slow")
		Expect(err).NotTo(HaveOccurred())
		w.clock.Step(result.RequeueAfter + 2*time.Second)
		w.sweep()
		asks := len(w.fake.Calls(effecttest.Verify))
		Expect(w.op.Usage()).To(ConsistOf(HaveField("Queued", 1)))
		close(hold)
		w.run("slow")
		w.run("a") // as the slot wakes it
		Expect(w.fake.Calls(effecttest.Verify)).To(HaveLen(asks + 1))
	})

	It("remembers nothing of what another process has ended that it had left to its sweep", func() {
		w.fake.SetTraits(asked(time.Minute))
		w.fake.On(1, effecttest.LostBefore())
		w.template("work", keptFor(ttl))
		w.submit("a")
		result := w.run("a")
		w.remove("a")
		w.run("a")
		w.clock.Step(result.RequeueAfter + 2*time.Second)
		w.sweep("a")
		mine, other := w.op, w.operator("other")
		Expect(mine.Remembered()).NotTo(BeZero(), "since when it is where it is")
		w.op = other
		for range 2 {
			w.clock.Step(result.RequeueAfter + 2*time.Second)
			w.sweep("a")
		}
		Expect(w.action("a").Unsettled).To(BeFalse())
		w.op = mine
		w.sweep()
		Expect(mine.Remembered()).To(BeZero())
		Expect(other.Remembered()).To(BeZero())
	})

	It("removes a claim and then its record when their time is over", func() {
		w.template("work", forOrder, keptFor(ttl))
		w.submit("a")
		w.run("a")
		w.remove("a")
		w.run("a")
		w.clock.Step(ttl - time.Minute)
		w.sweep()
		Expect(w.record("a")).NotTo(BeNil())
		claim := w.action("a").Claim
		w.clock.Step(2 * time.Minute)
		w.faults.takeNotes()
		w.faults.before("delete", records, func() {
			Expect(w.exists(claim)).To(BeFalse(), "the claim goes first")
		})
		w.sweep()
		Expect(w.record("a")).To(BeNil())
		Expect(w.op.Remembered()).To(BeZero())
	})

	It("keeps a record while a submission of that name exists (hazard 11)", func() {
		w.template("work", keptFor(ttl))
		w.submit("a")
		w.run("a")
		w.clock.Step(10 * ttl)
		w.sweep("a")
		Expect(w.record("a")).NotTo(BeNil())
		Expect(w.action("a").ExpiresAt.Time).To(BeTemporally(">", w.clock.Now()), "it is renewed")
	})

	It("keeps the record of a key that was used again with another payload", func() {
		w.template("work", keptFor(ttl))
		w.submit("a")
		w.run("a")
		w.again("a", with(`{"order":"8"}`))
		w.run("a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonKeyReused)
		w.clock.Step(10 * ttl)
		w.sweep("a")
		Expect(w.record("a")).NotTo(BeNil())
	})

	It("does not remove a record whose submission came back at the last moment", func() {
		w.template("work", keptFor(ttl))
		w.submit("a")
		w.run("a")
		w.remove("a")
		w.clock.Step(2 * ttl)
		w.faults.before("delete", records, func() {
			w.submit("a") // and its replay renews the record
			other := w.operator("another-process")
			mine := w.op
			w.op = other
			w.run("a")
			w.op = mine
		})
		w.sweep()
		Expect(w.record("a")).NotTo(BeNil())
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("is put off by a replay in the second half of a record's life (hazard 11)", func() {
		w.template("work", keptFor(ttl))
		w.submit("a")
		w.run("a")
		first := w.action("a").ExpiresAt.Time
		w.clock.Step(time.Hour)
		w.again("a")
		w.run("a")
		Expect(w.action("a").ExpiresAt.Time).To(Equal(first))
		w.clock.Step(ttl / 2)
		w.again("a")
		w.run("a")
		Expect(w.action("a").ExpiresAt.Time).To(BeTemporally(">=", first.Add(ttl/2)))
	})

	It("removes nothing under the policy Keep", func() {
		w.template("work", keepsRecords)
		w.submit("a")
		w.run("a")
		w.remove("a")
		w.clock.Step(10000 * time.Hour)
		w.sweep("a")
		Expect(w.record("a")).NotTo(BeNil())
		Expect(w.record("a").Labels).NotTo(HaveKey(v1alpha1.LabelDue))
	})

	It("lets what was left alone between attempts expire too", func() {
		w.template("work", keptFor(ttl))
		w.fake.On(1, effecttest.Busy("later"))
		w.submit("a")
		w.run("a")
		w.remove("a")
		w.clock.Step(time.Minute)
		w.sweep()
		Expect(w.action("a").ExpiresAt).NotTo(BeNil())
		w.clock.Step(2 * ttl)
		w.sweep()
		Expect(w.record("a")).To(BeNil())
	})

	It("drives on the first action of a key that was used again", func() {
		w.fake.SetTraits(asked(time.Minute))
		w.fake.On(1, effecttest.LostBefore())
		w.template("work")
		w.submit("a")
		result := w.run("a")
		w.again("a", with(`{"order":"8"}`))
		w.run("a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonKeyReused)
		w.fake.Finish(w.namespace + "/a")
		w.clock.Step(result.RequeueAfter + 2*time.Second)
		w.sweep("a")
		Expect(w.action("a").Reason).To(Equal(v1alpha1.ReasonVerifiedApplied))
	})
})

// exists reports whether there is a record, or a claim, of that name.
func (w *world) exists(name string) bool {
	GinkgoHelper()
	_, found := w.versions()[name]
	return found
}
