package gateway

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/plan"
)

// allowed returns nil where a caller may submit an action of a template with these parameters. For callers that pass their
// token on, the API server decides.
func (g *Gateway) allowed(ctx context.Context, caller *Caller, template types.NamespacedName, parameters []byte) *Problem {
	if !caller.verified() {
		return nil
	}
	access, wrong := g.access(ctx, template)
	if wrong != nil {
		return wrong
	}
	return allows(access, caller, parameters)
}

// owner is on whose behalf the action was whose outcome a submission shows: where an earlier submission of its key, or
// another one of its business key, was first, that one's.
func owner(s *v1alpha1.TaskSubmission) string {
	if s.Status.Replayed || s.Status.DuplicateOf != "" {
		return s.Status.OutcomeOnBehalfOf
	}
	return s.Annotations[v1alpha1.AnnotationOnBehalfOf]
}

// readable returns nil where a caller may read a submission. On whose behalf it was may, also where its template is gone;
// anybody else only where the template says so.
func (g *Gateway) readable(ctx context.Context, caller *Caller, s *v1alpha1.TaskSubmission) *Problem {
	if !caller.verified() || caller.Subject != "" && caller.Subject == owner(s) {
		return nil
	}
	access, wrong := g.access(ctx, types.NamespacedName{Namespace: s.Namespace, Name: s.Spec.TemplateRef.Name})
	switch {
	case wrong != nil:
		return wrong
	case !access.Stated():
		return problem(forbidden, "whose it was is not known, or it was somebody else's, and the template's access does not say who else may read it")
	}
	return allows(access, caller, s.Spec.Parameters.Raw)
}

// access returns what a template says of who may use it.
func (g *Gateway) access(ctx context.Context, template types.NamespacedName) (*plan.Access, *Problem) {
	ctx, cancel := context.WithTimeout(ctx, g.Patience)
	defer cancel()
	found := &v1alpha1.TaskTemplate{}
	switch err := g.Client.API.Get(ctx, template, found); {
	case apierrors.IsNotFound(err):
		return nil, problem(forbidden, "there is no template "+template.Name+", so nobody has said who may use it")
	case err != nil:
		return nil, problemFromAPI(ctx, err)
	}
	access, err := plan.AccessOf(found)
	if err != nil {
		return nil, problem(forbidden, err.Error())
	}
	return access, nil
}

func allows(access *plan.Access, caller *Caller, parameters []byte) *Problem {
	if err := access.Allows(caller.Claims, parameters); err != nil {
		return problem(forbidden, err.Error())
	}
	return nil
}
