package controller_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

var _ = Describe("What stands before a begin", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	It("waits for a template that is not there", func() {
		w.submit("a")
		w.run("a")
		w.expect("a", v1alpha1.PhasePending, v1alpha1.ReasonTemplateNotFound)
		Expect(w.record("a")).To(BeNil(), "no key is used up (I10)")
		w.template("work")
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("waits for a template that does not compile, and says which field is wrong", func() {
		w.fake.SetFaults(field.Invalid(field.NewPath("spec", "effect", "http", "url"), "", "is no address"))
		w.template("work")
		w.submit("a")
		w.run("a")
		w.expect("a", v1alpha1.PhasePending, v1alpha1.ReasonTemplateNotReady)
		Expect(w.status("a").Message).To(ContainSubstring("spec.effect.http.url"))
		w.fake.SetFaults()
		w.edit("work", anotherEffect)
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("waits while the template is suspended; what has begun goes on", func() {
		w.template("work")
		w.fake.OnSubmission("begun", 1, effecttest.Busy("later"))
		w.submit("begun")
		w.run("begun")
		w.edit("work", suspended)
		w.submit("a")
		w.run("a")
		w.expect("a", v1alpha1.PhasePending, v1alpha1.ReasonTemplateSuspended)
		w.finish("begun")
		w.expectOnce("begun", v1alpha1.ReasonApplied)
		w.edit("work", func(spec *v1alpha1.TaskTemplateSpec) { spec.Suspend = false })
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("waits for notBefore and wakes then", func() {
		w.template("work")
		w.submit("a", notBefore(w.clock.Now().Add(time.Hour)))
		result := w.run("a")
		w.expect("a", v1alpha1.PhasePending, v1alpha1.ReasonNotYet)
		Expect(result.RequeueAfter).To(Equal(time.Hour))
		w.after(time.Hour, "a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("is too late after notAfter, for good", func() {
		w.template("work", suspended)
		at := w.clock.Now().Add(time.Hour)
		w.submit("a", notAfter(at))
		Expect(w.run("a").RequeueAfter).To(Equal(time.Hour), "it wakes to fail")
		w.after(time.Hour, "a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonTooLate)
		Expect(w.action("a").Reason).To(Equal(v1alpha1.ReasonTooLate), "a verdict is a record first (hazard 9)")
	})

	It("does not end by notAfter what was begun before", func() {
		w.template("work")
		w.fake.On(1, effecttest.Busy("later"))
		w.submit("a", notAfter(w.clock.Now().Add(500*time.Millisecond).Truncate(time.Second).Add(time.Second)))
		w.run("a")
		w.clock.Step(time.Hour)
		w.finish("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	DescribeTable("refuses what is invalid, and it costs nothing (I10)", func(reason v1alpha1.Reason, name, saying string, edits ...func(*v1alpha1.TaskSubmission)) {
		w.template("work", func(spec *v1alpha1.TaskTemplateSpec) {
			spec.ParametersSchema = &v1alpha1.ParametersSchema{}
			spec.ParametersSchema.OpenAPIV3Schema.Raw = []byte(`{"type":"object","required":["order"],"properties":{"order":{"type":"string","maxLength":20}}}`)
			spec.IdempotencyKey = "order-${params.order}"
		})
		w.submit(name, edits...)
		Expect(w.run(name).RequeueAfter).To(BeZero())
		w.expect(name, v1alpha1.PhaseFailed, reason)
		Expect(w.status(name).Message).To(ContainSubstring(saying))
		Expect(w.fake.Calls()).To(BeEmpty())
		Expect(w.record(w.submission(name).Key())).To(BeNil())
	},
		Entry("a name that is not the key's", v1alpha1.ReasonInvalidName, "order-7", "order-7-", keyed("order:7")),
		Entry("a name that looks derived", v1alpha1.ReasonInvalidName, "order-7-aaaaaaaaaaaaaaaaaaaaaaaaaa", "derived"),
		Entry("parameters that the schema refuses", v1alpha1.ReasonInvalidParameters, "order-7", "order", with(`{"order": 7}`)),
		Entry("parameters that are missing", v1alpha1.ReasonInvalidParameters, "order-7", "order", with(`{}`)),
		Entry("a key that is not the template's", v1alpha1.ReasonKeyMismatch, "order-8", `"order-7"`),
	)

	It("waits for a slot, and says so", func() {
		hold := make(chan struct{})
		w.fake.OnSubmission("first", 1, effecttest.Applies(`{}`).HeldAfter(hold))
		w.template("work", func(spec *v1alpha1.TaskTemplateSpec) { spec.Limits.MaxInFlight = 1 })
		w.template("other")
		w.submit("first")
		w.submit("second")
		w.submit("elsewhere", under("other"))
		_, err := w.pass("first")
		Expect(err).NotTo(HaveOccurred())
		w.run("second")
		Expect(w.status("second").ObservedGeneration).To(BeEquivalentTo(-1), "a queue that moves is nothing to tell of")
		w.after(lifecycle.QuietInQueue, "second")
		w.expect("second", v1alpha1.PhasePending, v1alpha1.ReasonLimitReached)
		w.run("elsewhere")
		w.expectOnce("elsewhere", v1alpha1.ReasonApplied)
		close(hold)
		w.run("first")
		w.run("second")
		w.expectOnce("second", v1alpha1.ReasonApplied)
	})

	It("begins no faster than the template's rate", func() {
		w.template("work", func(spec *v1alpha1.TaskTemplateSpec) { one := int32(1); spec.Limits.PerSecond = &one })
		w.submit("first")
		w.submit("second")
		w.run("first")
		result := w.run("second")
		Expect(result.RequeueAfter).To(And(BeNumerically(">", 0), BeNumerically("<=", time.Second)))
		w.after(result.RequeueAfter, "second")
		w.expectOnce("second", v1alpha1.ReasonApplied)
	})

	It("waits for a Secret that is missing, without counting it, and goes on", func() {
		w.template("work", atMost(1))
		w.fake.SetDefault(effecttest.Fails(effect.Missing("the Secret %q does not exist", "token")))
		w.submit("a")
		result := w.run("a")
		w.expect("a", v1alpha1.PhasePending, v1alpha1.ReasonDependencyMissing)
		w.after(result.RequeueAfter, "a")
		w.expect("a", v1alpha1.PhasePending, v1alpha1.ReasonDependencyMissing)
		Expect(w.status("a").Message).To(ContainSubstring("token"))
		w.fake.SetDefault(effecttest.Applies(`{}`))
		w.finish("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("keeps the number of the attempt while what it needs is looked for, so that a decision means that one", func() {
		traits := asked(0)
		traits.Prepares = true
		w.fake.SetTraits(traits)
		w.template("work", atMost(1))
		w.fake.SetLack(effect.Missing("the Secret %q does not exist", "token"))
		for _, name := range []string{"a", "b"} {
			w.submit(name)
			result := w.run(name)
			for range 3 {
				result = w.after(result.RequeueAfter, name)
			}
			w.expect(name, v1alpha1.PhasePending, v1alpha1.ReasonDependencyMissing)
			Expect(w.status(name).Message).To(ContainSubstring("token"))
			Expect(w.status(name).Attempts).To(Equal(int32(1)))
			Expect(w.action(name).History).To(BeEmpty())
		}
		decision := w.decide(v1alpha1.DecisionCancel, "b")
		w.clock.Step(time.Hour)
		w.run("b")
		w.expect("b", v1alpha1.PhaseFailed, v1alpha1.ReasonCancelled)
		w.expectDecision(decision, v1alpha1.DecisionApplied)
		w.fake.SetLack(nil)
		w.finish("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.status("a").Attempts).To(Equal(int32(2)))
	})

	It("begins nothing for a submission that is being deleted (hazard 24)", func() {
		w.template("work")
		submission := w.submit("a", held)
		Expect(admin.Delete(ctx, submission)).To(Succeed())
		w.run("a")
		Expect(w.record("a")).To(BeNil())
		Expect(w.fake.Calls()).To(BeEmpty())
		w.letGo("a")
	})

	It("begins no further attempt for a submission that is being deleted", func() {
		w.template("work")
		w.fake.On(1, effecttest.Busy("later"))
		submission := w.submit("a", held)
		w.run("a")
		Expect(admin.Delete(ctx, submission)).To(Succeed())
		w.after(time.Hour, "a")
		Expect(w.fake.Calls()).To(HaveLen(1))
		w.letGo("a")
	})
})

// letGo removes a submission's finalizers, so that its deletion ends.
func (w *world) letGo(name string) {
	GinkgoHelper()
	submission := w.submission(name)
	submission.Finalizers = nil
	Expect(client.IgnoreNotFound(admin.Update(ctx, submission))).To(Succeed())
}
