package gateway

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/plan"
)

// allowed returns nil where a caller may submit, or read, an action of a template with these parameters. For callers
// that pass their token on, the API server decides.
func (g *Gateway) allowed(ctx context.Context, caller *Caller, template types.NamespacedName, parameters []byte) *Problem {
	if !caller.verified() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, g.Patience)
	defer cancel()
	found := &v1alpha1.TaskTemplate{}
	switch err := g.Client.API.Get(ctx, template, found); {
	case apierrors.IsNotFound(err):
		return problem(forbidden, "there is no template "+template.Name+", so nobody has said who may use it")
	case err != nil:
		return asked(caller, err)
	}
	access, err := plan.AccessOf(found)
	if err == nil {
		err = access.Allows(caller.Claims, parameters)
	}
	if err != nil {
		return problem(forbidden, err.Error())
	}
	return nil
}

// readable returns nil where a caller may read a submission. Who it was submitted for may, also where its template is gone.
func (g *Gateway) readable(ctx context.Context, caller *Caller, s *v1alpha1.TaskSubmission) *Problem {
	if caller.Subject != "" && caller.Subject == s.Annotations[v1alpha1.AnnotationOnBehalfOf] {
		return nil
	}
	return g.allowed(ctx, caller, types.NamespacedName{Namespace: s.Namespace, Name: s.Spec.TemplateRef.Name}, s.Spec.Parameters.Raw)
}
