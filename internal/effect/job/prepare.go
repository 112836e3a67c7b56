package job

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/internal/effect"
)

// Prepare has the API server say whether it would take the Job, without making it: a right, a quota or a policy may be
// what was missing, or a stranger's Job be in the way.
func (r *run) Prepare(ctx context.Context, attempt effect.Attempt) error {
	job, err := r.build(attempt)
	if err != nil {
		return err
	}
	err = r.Client.Create(ctx, job, client.DryRunAll)
	switch {
	case err == nil:
		return nil
	case apierrors.IsAlreadyExists(err):
		_, err := r.adopt(ctx, attempt)
		return err
	}
	if _, missing := refused(err); missing != nil {
		return missing
	}
	return errors.New("the API server refuses the Job for a reason of its own")
}
