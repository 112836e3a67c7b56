package controller_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

var _ = Describe("A key that is used again", func() {
	var w *world
	BeforeEach(func() {
		w = newWorld()
		w.fake.SetDefault(effecttest.Applies(`{"receipt": 17}`))
		w.template("work")
	})

	It("is refused by the API server while its submission exists (I1)", func() {
		w.submit("a")
		duplicate := newSubmission(w.namespace, "a")
		Expect(apierrors.IsAlreadyExists(admin.Create(ctx, duplicate))).To(BeTrue())
		w.run("a")
		duplicate = newSubmission(w.namespace, "a")
		Expect(apierrors.IsAlreadyExists(admin.Create(ctx, duplicate))).To(BeTrue())
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("gets the first result after its submission was deleted (I6, I8)", func() {
		w.submit("a")
		w.run("a")
		first := w.status("a")
		Expect(first.Result.Raw).To(MatchJSON(`{"receipt": 17}`))
		Expect(first.Replayed).To(BeFalse())

		w.fake.SetDefault(effecttest.Applies(`{"receipt": 18}`))
		w.again("a")
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		second := w.status("a")
		Expect(second.Replayed).To(BeTrue())
		Expect(second.Result.Raw).To(MatchJSON(first.Result.Raw))
		Expect(second.ResultDigest).To(Equal(first.ResultDigest))
		Expect(second.Attempts).To(Equal(first.Attempts))
	})

	It("gets its failure too", func() {
		w.fake.SetDefault(effecttest.Refuses("no such order"))
		w.submit("a")
		w.run("a")
		w.again("a")
		w.run("a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonRejected)
		Expect(w.fake.Calls()).To(HaveLen(1))
	})

	DescribeTable("gets the first result, whatever became of the template (hazard 10)", func(change func()) {
		w.submit("a")
		w.run("a")
		change()
		w.again("a")
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.status("a").Replayed).To(BeTrue())
	},
		Entry("deleted", func() { Expect(admin.Delete(ctx, newTemplate(w.namespace, "work"))).To(Succeed()) }),
		Entry("with another effect", func() { w.edit("work", anotherEffect) }),
		Entry("suspended", func() { w.edit("work", suspended) }),
		Entry("asking for approval now", func() { w.edit("work", approved) }),
		Entry("with a schema that refuses the parameters", func() {
			w.edit("work", func(spec *v1alpha1.TaskTemplateSpec) {
				spec.ParametersSchema = &v1alpha1.ParametersSchema{}
				spec.ParametersSchema.OpenAPIV3Schema.Raw = []byte(`{"type":"object","properties":{"order":{"type":"integer"}}}`)
			})
		}),
	)

	It("tells another payload so after the first has finished and was deleted", func() {
		w.submit("a")
		w.run("a")
		w.again("a", with(`{"order":"8"}`))
		w.run("a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonKeyReused)
		Expect(w.status("a").Result).To(BeNil())
		Expect(w.effects("a")).To(Equal(1))

		By("and still has the first result for the first payload")
		w.again("a")
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("tells another payload so while the first is waiting for its next attempt", func() {
		w.fake.On(1, effecttest.Busy("later"))
		w.submit("a")
		w.run("a")
		w.again("a", with(`{"order":"8"}`))
		w.run("a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonKeyReused)
		w.clock.Step(time.Hour)
		w.sweep("a")
		Expect(w.effects("a")).To(BeZero(), "no attempt starts without its submission")
	})

	It("tells another payload so while the first runs, and keeps what comes of that", func() {
		hold := make(chan struct{})
		w.fake.On(1, effecttest.Applies(`{"receipt": 17}`).HeldAfter(hold))
		w.submit("a")
		_, err := w.pass("a")
		Expect(err).NotTo(HaveOccurred())
		w.awaitCall(effecttest.Execute, 1)
		w.again("a", with(`{"order":"8"}`))
		close(hold)
		w.run("a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonKeyReused)
		Expect(w.action("a").Phase).To(Equal(v1alpha1.PhaseSuccess))
		w.again("a")
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("leaves the first action's recovery alone when it comes with another template", func() {
		w.template("other")
		hold := make(chan struct{})
		w.fake.On(1, effecttest.LostAfter().HeldAfter(hold))
		w.submit("a")
		_, err := w.pass("a")
		Expect(err).NotTo(HaveOccurred())
		w.awaitCall(effecttest.Execute, 1)
		w.again("a", under("other"))
		close(hold)
		w.run("a")
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonKeyReused)
		Expect(w.action("a").Reason).To(Equal(v1alpha1.ReasonVerifiedApplied), w.action("a").Message)
	})
})
