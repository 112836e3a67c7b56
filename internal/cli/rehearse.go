package cli

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/pkg/submit"
)

// rehearse says what would become of a submission.
func (o *submitting) rehearse(ctx context.Context, s *submit.Submission) submitted {
	object := s.Object()
	delete(object.Annotations, v1alpha1.AnnotationClientToken)
	line := titled(s.Name()) + " submitted"
	if o.dryRun == "client" {
		return submitted{object: object, line: line + o.dryRun.suffix()}
	}
	err := o.cluster.api.Create(ctx, object, o.dryRun.options()...)
	switch {
	case err == nil:
		return submitted{object: object, line: line + o.dryRun.suffix()}
	case !apierrors.IsAlreadyExists(err):
		return submitted{err: notSubmitted(s, err)}
	}
	found := &v1alpha1.TaskSubmission{}
	if err := o.cluster.api.Get(ctx, client.ObjectKeyFromObject(object), found); err != nil {
		return submitted{err: err}
	}
	if found.Invalid() { // it would make way
		return submitted{object: object, line: line + o.dryRun.suffix()}
	}
	if !s.Same(found) {
		return submitted{err: notSubmitted(s, &submit.OtherPayloadError{Key: s.Key(), Existing: found})}
	}
	return submitted{object: found, line: line + sameBefore + o.dryRun.suffix()}
}
