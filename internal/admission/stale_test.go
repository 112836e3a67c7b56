package admission

import (
	"context"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/plan"
	"github.com/taskonce/taskonce/internal/record"
)

// holding reads one submission, or nothing.
type holding struct {
	client.Client
	submission *v1alpha1.TaskSubmission
}

func (h holding) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	if into, ok := object.(*v1alpha1.TaskSubmission); ok && h.submission != nil && h.submission.Name == key.Name {
		h.submission.DeepCopyInto(into)
		return nil
	}
	return apierrors.NewNotFound(schema.GroupResource{Group: v1alpha1.GroupVersion.Group}, key.Name)
}

func TestARefusalDoesNotRestOnTheCache(t *testing.T) {
	with := func(parameters string) *v1alpha1.TaskSubmission {
		return &v1alpha1.TaskSubmission{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "grant-42"},
			Spec:       v1alpha1.TaskSubmissionSpec{TemplateRef: v1alpha1.TemplateRef{Name: "work"}, Parameters: apiextensionsv1.JSON{Raw: []byte(parameters)}},
			Status:     v1alpha1.TaskSubmissionStatus{Phase: v1alpha1.PhasePending},
		}
	}
	const first, other = `{"order":"7"}`, `{"order":"8"}`
	for _, tt := range []struct {
		reason       string
		cached, live *v1alpha1.TaskSubmission
		known, same  bool
	}{
		{"deleted since, and without a record", with(first), nil, false, false},
		{"deleted since, and created as this very action", with(first), with(other), true, true},
		{"still another action", with(first), with(first), true, false},
		{"the same action: nothing is refused, so nothing more is read", with(other), nil, true, true},
	} {
		h := &Submissions{Cache: holding{submission: tt.cached}, Live: holding{submission: tt.live}, Records: &record.Store{Client: holding{}}, Recent: NewRecent(clock.RealClock{})}
		known, err := h.earlier(t.Context(), with(other), plan.InputOf(with(other)))
		if err != nil || (known != nil) != tt.known || (known != nil && known.same != tt.same) {
			t.Errorf("%s: %+v, %v", tt.reason, known, err)
		}
	}
}
