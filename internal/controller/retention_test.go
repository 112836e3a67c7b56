package controller_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

// soon is longer than a sweep comes late, counted from its due label.
const soon = 3 * time.Second

var _ = Describe("Retention", func() {
	const ttl = time.Hour
	var w *world
	BeforeEach(func() { w = newWorld() })

	It("removes what has succeeded after submissionTTL, and its record and claim after recordTTL", func() {
		w.template("work", forOrder, removedAfter(ttl), keptFor(24*ttl))
		w.submit("a")
		w.run("a")
		claim := w.action("a").Claim
		w.clock.Step(ttl - time.Second)
		w.sweep()
		w.expectOnce("a", v1alpha1.ReasonApplied)
		w.clock.Step(soon)
		w.sweep()
		Expect(w.gone("a")).To(BeTrue())

		By("looking at the record no more until it expires")
		w.clock.Step(22 * ttl)
		w.faults.takeNotes()
		w.sweep()
		Expect(w.faults.takeNotes()).To(BeEmpty())
		Expect(w.exists(claim)).To(BeTrue())
		w.clock.Step(ttl)
		w.sweep()
		Expect(w.versions()).To(BeEmpty())
		Expect(w.op.Remembered()).To(BeZero())
	})

	It("keeps what failed for failedTTL", func() {
		w.template("work", removedAfter(ttl))
		w.fake.On(1, effecttest.Refuses("no such order"))
		w.submit("a")
		w.run("a")
		w.clock.Step(ttl + soon)
		w.sweep()
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonRejected)
		w.clock.Step(ttl)
		w.sweep()
		Expect(w.gone("a")).To(BeTrue())
		Expect(w.record("a")).NotTo(BeNil())
	})

	DescribeTable("finds what failed without a record by its phase", func(reason v1alpha1.Reason, submit func()) {
		w.template("work", removedAfter(ttl), func(spec *v1alpha1.TaskTemplateSpec) {
			spec.ParametersSchema = &v1alpha1.ParametersSchema{}
			spec.ParametersSchema.OpenAPIV3Schema.Raw = []byte(`{"type":"object","properties":{"order":{"type":"string","maxLength":1}}}`)
		})
		submit()
		w.run("a")
		w.expect("a", v1alpha1.PhaseFailed, reason)
		w.sweep()
		w.faults.takeNotes()
		w.sweep()
		Expect(w.faults.takeNotes()).To(BeEmpty(), "it was labelled, and is not due")
		w.clock.Step(2*ttl - time.Second)
		w.sweep()
		w.expect("a", v1alpha1.PhaseFailed, reason)
		w.clock.Step(soon)
		w.sweep()
		Expect(w.gone("a")).To(BeTrue())
	},
		Entry(nil, v1alpha1.ReasonInvalidName, func() { w.submit("a", keyed("another")) }),
		Entry(nil, v1alpha1.ReasonInvalidParameters, func() { w.submit("a", with(`{"order":"77"}`)) }),
		Entry(nil, v1alpha1.ReasonKeyReused, func() {
			w.submit("a")
			w.run("a")
			w.again("a", with(`{"order":"8"}`))
		}),
	)

	It("keeps longer what failed without a record, where its template says so by then", func() {
		w.template("work", removedAfter(ttl))
		w.submit("a", keyed("another"))
		w.run("a")
		w.sweep()
		w.edit("work", removedAfter(2*ttl))
		w.clock.Step(2*ttl + soon)
		w.sweep()
		Expect(w.gone("a")).To(BeFalse())
		w.clock.Step(2 * ttl)
		w.sweep()
		Expect(w.gone("a")).To(BeTrue())
	})

	It("removes what was submitted under another key than its template makes", func() {
		w.template("work", removedAfter(ttl), func(spec *v1alpha1.TaskTemplateSpec) { spec.IdempotencyKey = "${'order-' + string(params.order)}" })
		w.submit("a")
		w.run("a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonKeyMismatch)
		w.clock.Step(2*ttl + soon)
		w.sweep()
		Expect(w.gone("a")).To(BeTrue())
	})

	It("never removes what is not decided", func() {
		w.fake.SetTraits(silent())
		w.fake.OnSubmission("unknown", 1, effecttest.LostBefore())
		w.fake.OnSubmission("retrying", 1, effecttest.Busy("later"))
		w.template("work", removedAfter(time.Second), keptFor(time.Second))
		w.template("stopped", suspended, removedAfter(time.Second), keptFor(time.Second))
		w.template("careful", approved, removedAfter(time.Second), keptFor(time.Second))
		w.submit("stopped", under("stopped"))
		w.submit("careful", under("careful"))
		w.submit("unknown")
		w.submit("retrying")
		names := []string{"stopped", "careful", "unknown", "retrying"}
		for _, name := range names {
			w.run(name)
		}
		w.clock.Step(100000 * time.Hour)
		w.sweep()
		for _, name := range names {
			Expect(w.gone(name)).To(BeFalse(), name)
		}
		Expect(w.record("unknown")).NotTo(BeNil())
		Expect(w.record("retrying")).NotTo(BeNil())
	})

	DescribeTable("removes nothing that was changed since it was looked at", func(change func()) {
		w.template("work", removedAfter(ttl))
		w.submit("a")
		w.run("a")
		w.clock.Step(ttl + soon)
		w.faults.before("delete", submissions, change)
		w.sweep()
		Expect(w.gone("a")).To(BeFalse())
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	},
		Entry("it was applied again", func() { w.again("a") }),
		Entry("somebody holds it", func() {
			submission := w.submission("a")
			submission.Annotations = map[string]string{"example.com/hold": "me"}
			Expect(admin.Update(ctx, submission)).To(Succeed())
		}),
	)

	It("waits no longer for what somebody else's finalizer holds, and keeps its record meanwhile", func() {
		w.template("work", removedAfter(ttl), keptFor(2*ttl))
		w.submit("a", held)
		w.run("a")
		w.clock.Step(ttl + soon)
		w.sweep()
		Expect(w.submission("a").DeletionTimestamp).NotTo(BeNil())
		w.faults.takeNotes()
		w.sweep()
		Expect(w.faults.takeNotes()).To(BeEmpty())
		w.clock.Step(10 * ttl)
		w.sweep()
		Expect(w.record("a")).NotTo(BeNil())
		w.letGo("a")
		w.clock.Step(10 * ttl)
		w.sweep()
		Expect(w.record("a")).To(BeNil())
	})

	It("counts the life of one that is applied again from then, and follows the template as it is now", func() {
		w.template("work", removedAfter(ttl))
		w.submit("a")
		w.run("a")
		w.clock.Step(ttl - time.Minute)
		w.again("a")
		w.run("a")
		w.clock.Step(2 * time.Minute)
		w.sweep()
		Expect(w.gone("a")).To(BeFalse())
		w.edit("work", removedAfter(3*ttl))
		w.clock.Step(ttl)
		w.sweep()
		Expect(w.gone("a")).To(BeFalse())
		w.clock.Step(2 * ttl)
		w.sweep()
		Expect(w.gone("a")).To(BeTrue())
	})

	It("leaves a submission to a person who has just decided about it", func() {
		w.template("work", removedAfter(ttl))
		w.fake.On(1, effecttest.Refuses("no such order"))
		w.submit("a")
		w.run("a")
		w.clock.Step(2*ttl + soon)
		w.decide(v1alpha1.DecisionRetry, "a")
		w.sweep()
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("has one effect under GitOps that applies what was removed, for two minutes", func() {
		w.template("work", removedAfter(5*time.Second), keptFor(30*time.Second))
		var digests []string
		w.submit("a")
		for range 24 {
			w.run("a")
			w.expectOnce("a", v1alpha1.ReasonApplied)
			digests = append(digests, w.status("a").ResultDigest)
			w.clock.Step(5*time.Second + soon)
			w.sweep()
			Expect(w.gone("a")).To(BeTrue())
			w.submit("a")
		}
		Expect(digests).To(HaveEach(digests[0]))
		Expect(w.fake.Calls()).To(HaveLen(1))
	})

	It("keeps a record alive that is shorter-lived than its submission, for who comes back after the removal", func() {
		w.template("work", removedAfter(ttl), keptFor(ttl/10))
		w.submit("a")
		w.run("a")
		for range 10 {
			w.clock.Step(ttl/10 + soon)
			w.sweep()
		}
		Expect(w.gone("a")).To(BeTrue())
		w.submit("a")
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("removes nothing early, and applies nothing twice, when a replica's clock is an hour ahead", func() {
		w.template("work", removedAfter(ttl), keptFor(24*ttl))
		right := w.op
		ahead := w.operatorAt("ahead", clocktesting.NewFakeClock(w.clock.Now().Add(time.Hour)))
		w.op = ahead
		w.submit("a")
		w.run("a")
		w.op = right
		w.clock.Step(ttl + soon)
		w.sweep()
		Expect(w.gone("a")).To(BeFalse(), "its end is an hour in the future")
		w.clock.Step(ttl)
		w.sweep()
		Expect(w.gone("a")).To(BeTrue())

		By("the replica ahead meeting what is undecided, and what is applied again")
		w.template("stopped", suspended, removedAfter(time.Second))
		w.submit("b", under("stopped"))
		w.run("b")
		w.submit("a")
		w.op = ahead
		w.sweep()
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.gone("b")).To(BeFalse())
		w.op = right
	})

	It("sweeps no faster than it is told", func() {
		w.template("work", removedAfter(time.Second))
		for _, name := range []string{"a", "b", "c"} {
			w.submit(name)
			w.run(name)
		}
		w.clock.Step(time.Minute)
		swept := make(chan error, 1)
		loop := w.dueLoop()
		loop.PerSecond = 1
		go func() { swept <- loop.Sweep(ctx) }()
		for left := 2; left > 0; left-- {
			Eventually(w.clock.HasWaiters).Should(BeTrue())
			Eventually(w.living).Should(Equal(left))
			w.clock.Step(time.Second)
		}
		Eventually(swept).Should(Receive(BeNil()))
		Expect(w.living()).To(BeZero())
	})
})

// living is how many submissions there are.
func (w *world) living() int {
	list := &v1alpha1.TaskSubmissionList{}
	Expect(admin.List(ctx, list, client.InNamespace(w.namespace))).To(Succeed())
	return len(list.Items)
}
