package admission

import (
	"context"
	"encoding/json"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/plan"
)

// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// Templates refuses templates that do not compile, and those whose author lacks a right that the template uses.
type Templates struct {
	Compilers effect.Compilers
	// Reviewer creates SubjectAccessReviews.
	Reviewer client.Writer
}

// Handle answers one request.
func (h *Templates) Handle(ctx context.Context, request admission.Request) admission.Response {
	template := &v1alpha1.TaskTemplate{}
	if err := json.Unmarshal(request.Object.Raw, template); err != nil {
		return refuse(apierrors.NewBadRequest("the template cannot be read: " + err.Error())) // nobody else could, either
	}
	template.Namespace = request.Namespace
	if _, faults := plan.Compile(template, h.Compilers); len(faults) > 0 {
		return refuse(apierrors.NewInvalid(kind("TaskTemplate"), template.Name, faults))
	}
	if !usesOtherRights(request, &template.Spec) {
		return admission.Allowed("")
	}
	faults, err := h.missingRights(ctx, request.UserInfo, template)
	if err != nil {
		return failed(err)
	}
	if len(faults) > 0 {
		return refuse(apierrors.NewForbidden(v1alpha1.GroupVersion.WithResource("tasktemplates").GroupResource(), template.Name, faults.ToAggregate()))
	}
	return admission.Allowed("")
}

// usesOtherRights reports whether a request could put a right to another use than before. Who suspends a template, or
// changes how long its records are kept, needs none of them.
func usesOtherRights(request admission.Request, spec *v1alpha1.TaskTemplateSpec) bool {
	if request.Operation != admissionv1.Update {
		return true
	}
	old := &v1alpha1.TaskTemplate{}
	if err := json.Unmarshal(request.OldObject.Raw, old); err != nil {
		return true
	}
	return !equality.Semantic.DeepEqual(old.Spec.Effect, spec.Effect) || !equality.Semantic.DeepEqual(old.Spec.Verification, spec.Verification)
}
