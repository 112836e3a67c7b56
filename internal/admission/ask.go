package admission

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/internal/plan"
)

// askTemplate asks the submission's template about its input. A submission whose template cannot be used (yet) is let
// through with a warning: it waits, as documented.
func (h *Submissions) askTemplate(ctx context.Context, submission *v1alpha1.TaskSubmission, input *plan.Input) (problem *lifecycle.Problem, warning string, err error) {
	problem, warning, err = h.askTemplateIn(ctx, h.Cache, submission, input)
	if err == nil && (problem != nil || warning != "") {
		return h.askTemplateIn(ctx, h.Live, submission, input) // the cache may hold yesterday's template
	}
	return problem, warning, err
}

func (h *Submissions) askTemplateIn(ctx context.Context, reader client.Reader, submission *v1alpha1.TaskSubmission, input *plan.Input) (*lifecycle.Problem, string, error) {
	name := submission.Spec.TemplateRef.Name
	template := &v1alpha1.TaskTemplate{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: submission.Namespace, Name: name}, template)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Sprintf("there is no TaskTemplate %q in this namespace: the submission waits for one", name), nil
	}
	if err != nil {
		return nil, "", err
	}
	compiled, _ := h.Plans.For(template)
	if compiled == nil {
		return nil, fmt.Sprintf("the TaskTemplate %q does not compile: the submission waits until it is corrected", name), nil
	}
	if _, problem := input.Check(compiled); problem != nil {
		return problem, "", nil
	}
	if template.Spec.Suspend {
		return nil, fmt.Sprintf("the TaskTemplate %q is suspended: the submission waits until spec.suspend is false", name), nil
	}
	return nil, "", nil
}
