package controller_test

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

var _ = Describe("The kinds", func() {
	var namespace string
	BeforeEach(func() {
		var err error
		namespace, err = plane.Namespace(ctx)
		Expect(err).NotTo(HaveOccurred())
	})
	// raw reads an object as it is stored.
	raw := func(kind, name string) *unstructured.Unstructured {
		GinkgoHelper()
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
		Expect(admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)).To(Succeed())
		return object
	}

	DescribeTable("refuse any change of a submission's spec", func(change func(parameters, spec map[string]any)) {
		Expect(admin.Create(ctx, newSubmission(namespace, "a", with(`{"order":"7","points":10}`)))).To(Succeed())
		object := raw("TaskSubmission", "a")
		spec := object.Object["spec"].(map[string]any)
		change(spec["parameters"].(map[string]any), spec)
		err := admin.Update(ctx, object)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring("cannot be changed")))
	},
		Entry("a value", func(parameters, _ map[string]any) { parameters["order"] = "8" }),
		Entry("another parameter", func(parameters, _ map[string]any) { parameters["more"] = "1" }),
		Entry("a parameter dropped", func(parameters, _ map[string]any) { delete(parameters, "points") }),
		Entry("a parameter renamed", func(parameters, _ map[string]any) { delete(parameters, "points"); parameters["score"] = int64(10) }),
		Entry("the parameters dropped", func(_, spec map[string]any) { delete(spec, "parameters") }),
		Entry("the template", func(_, spec map[string]any) { spec["templateRef"] = map[string]any{"name": "other"} }),
		Entry("a key", func(_, spec map[string]any) { spec["idempotencyKey"] = "a" }),
		Entry("a time", func(_, spec map[string]any) { spec["notAfter"] = "2100-01-01T00:00:00Z" }),
	)

	It("let an apply that changes nothing through", func() {
		Expect(admin.Create(ctx, newSubmission(namespace, "a"))).To(Succeed())
		Expect(admin.Update(ctx, raw("TaskSubmission", "a"))).To(Succeed())
	})

	It("give a new submission a status that no tool takes for finished", func() {
		Expect(admin.Create(ctx, newSubmission(namespace, "a"))).To(Succeed())
		Expect(raw("TaskSubmission", "a").Object["status"]).To(Equal(map[string]any{"phase": "Pending", "observedGeneration": int64(-1)}))
	})

	DescribeTable("refuse a submission", func(saying string, edit func(*v1alpha1.TaskSubmission)) {
		err := admin.Create(ctx, newSubmission(namespace, "a", edit))
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring(saying)))
	},
		Entry("with a generated name", "generateName", func(s *v1alpha1.TaskSubmission) { s.Name, s.GenerateName = "", "a-" }),
		Entry("with a key that is too long in bytes", "512 bytes", keyed(strings.Repeat("提", 200))),
		Entry("whose times are the wrong way round", "notBefore", func(s *v1alpha1.TaskSubmission) {
			notBefore(time.Now().Add(time.Hour))(s)
			notAfter(time.Now())(s)
		}),
		Entry("without a template", "templateRef.name", under("")),
	)

	DescribeTable("refuse a template", func(saying string, edit func(*v1alpha1.TaskTemplateSpec)) {
		template := newTemplate(namespace, "work")
		edit(&template.Spec)
		err := admin.Create(ctx, template)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring(saying)))
	},
		Entry("without an effect", "exactly one", func(spec *v1alpha1.TaskTemplateSpec) { spec.Effect.HTTP = nil }),
		Entry("with a time-out that is too short", "timeout", func(spec *v1alpha1.TaskTemplateSpec) { spec.Effect.HTTP.Timeout.Duration = time.Millisecond }),
		Entry("with a time-out that is too long", "timeout", func(spec *v1alpha1.TaskTemplateSpec) { spec.Effect.HTTP.Timeout.Duration = time.Hour }),
		Entry("with a back-off the wrong way round", "initialDelay", func(spec *v1alpha1.TaskTemplateSpec) { spec.Retry.InitialDelay.Duration = time.Hour }),
		Entry("with no attempts", "maxAttempts", atMost(-1)),
		Entry("that keeps records for no time", "recordTTL", keptFor(time.Millisecond)),
		Entry("that keeps records for longer than years", "recordTTL", keptFor(100000*time.Hour)),
		Entry("that gives up at once", "stuckAfter", func(spec *v1alpha1.TaskTemplateSpec) { spec.Recovery.StuckAfter.Duration = time.Millisecond }),
		Entry("whose host is an expression", "url", func(spec *v1alpha1.TaskTemplateSpec) { spec.Effect.HTTP.URL = "http://${params.host}/" }),
	)

	DescribeTable("refuse another key expression", func(edit func(*v1alpha1.TaskTemplateSpec)) {
		template := newTemplate(namespace, "work")
		template.Spec.IdempotencyKey, template.Spec.BusinessKey = "order:${params.order}", "${string(params.order)}"
		Expect(admin.Create(ctx, template)).To(Succeed())
		edit(&template.Spec)
		err := admin.Update(ctx, template)
		Expect(err).To(MatchError(ContainSubstring("cannot be changed")))
	},
		Entry("for the business key", func(spec *v1alpha1.TaskTemplateSpec) { spec.BusinessKey = "${params.order}x" }),
		Entry("for no business key", func(spec *v1alpha1.TaskTemplateSpec) { spec.BusinessKey = "" }),
		Entry("for the idempotency key", func(spec *v1alpha1.TaskTemplateSpec) { spec.IdempotencyKey = "x:${params.order}" }),
	)

	It("refuse a change of a decision", func() {
		decision := &v1alpha1.TaskDecision{}
		decision.Namespace, decision.Name = namespace, "d"
		decision.Spec = v1alpha1.TaskDecisionSpec{Submission: "a", UID: "u", Action: v1alpha1.DecisionCancel, Reason: "why"}
		Expect(admin.Create(ctx, decision)).To(Succeed())
		Expect(decision.Status.State).To(Equal(v1alpha1.DecisionPending))
		decision.Spec.Action = v1alpha1.DecisionRetry
		Expect(admin.Update(ctx, decision)).To(MatchError(ContainSubstring("cannot be changed")))
	})
})
