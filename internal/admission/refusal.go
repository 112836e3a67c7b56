package admission

import (
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// refuse denies with a status, as the API server itself would: clients read its reason and its causes.
func refuse(err *apierrors.StatusError) admission.Response {
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Result: &err.ErrStatus}}
}

// refuseInput says what is wrong with a submission: with the reason that it would fail for, as the type of the cause and
// at the head of the sentence.
func refuseInput(submission *v1alpha1.TaskSubmission, problem *lifecycle.Problem) admission.Response {
	name := submission.Name
	if name == "" {
		name = submission.GenerateName
	}
	fault := &field.Error{Type: field.ErrorTypeInvalid, Field: problem.Field, BadValue: field.OmitValueType{}, Detail: string(problem.Reason) + ": " + problem.Message}
	invalid := apierrors.NewInvalid(kind("TaskSubmission"), name, field.ErrorList{fault})
	for i := range invalid.ErrStatus.Details.Causes {
		invalid.ErrStatus.Details.Causes[i].Type = metav1.CauseType(problem.Reason)
	}
	return refuse(invalid)
}

// failed says that something could not be found out, where letting it through would be worse than asking to try again.
func failed(err error) admission.Response { return refuse(apierrors.NewInternalError(err)) }

func kind(name string) schema.GroupKind { return v1alpha1.GroupVersion.WithKind(name).GroupKind() }
