package submit

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// BlockedError says that a submission has the key's name without holding the key: one that failed for its input and may not
// be deleted, or one that nobody has looked at yet. It does not say that the key belongs to another action, so another key
// is no way out: the action may have been done under this one.
type BlockedError struct {
	Key      string
	Existing *v1alpha1.TaskSubmission
	// Err is why it could not be deleted, or what the API server said of the name.
	Err error
}

func (e *BlockedError) Error() string {
	if e.Existing.Invalid() {
		return fmt.Sprintf("the submission %q stands in the way: it failed for its input (%s), and nothing ran under it. Have it deleted, or wait until its time is over, and submit this again, under the same key: %v",
			e.Existing.Name, e.Existing.Status.Reason, e.Err)
	}
	return fmt.Sprintf("the submission %q has another template or other parameters, and whether it holds the key %q is known when the operator has looked at it: submit this again, under the same key, to find out: %v",
		e.Existing.Name, e.Key, e.Err)
}

func (e *BlockedError) Unwrap() error { return e.Err }

// tells reports whether what is there tells what becomes of this action. What failed for its input does not: its key is not
// used up (I10), and what was done under it before is in the record. Nor does another action that nobody has looked at:
// it may come out as one of these.
func (s *Submission) tells(found *v1alpha1.TaskSubmission) bool {
	switch {
	case s.own(found):
		return true
	case found.Invalid():
		return false
	default:
		return s.Same(found) || found.Status.ObservedGeneration >= found.Generation
	}
}

// makeWay deletes what is there, just as it was seen, where it failed for its input. What the record knows is not lost by it.
func (s *Submission) makeWay(ctx context.Context, found *v1alpha1.TaskSubmission) error {
	if !found.Invalid() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.client.requestTimeout())
	defer cancel()
	err := s.client.API.Delete(ctx, found, client.Preconditions{UID: &found.UID, ResourceVersion: &found.ResourceVersion})
	return client.IgnoreNotFound(err)
}

// mayNot reports whether a delete was refused for good.
func mayNot(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

// stopAt ends a Submit at what failed for its input and may not be deleted. The same action would only fail again.
func (s *Submission) stopAt(found *v1alpha1.TaskSubmission, doubt bool, err error) (Receipt, error) {
	if s.Same(found) {
		return s.arrive(Duplicate, found), nil
	}
	return Receipt{}, s.abort(doubt, &BlockedError{Key: s.Key(), Existing: found, Err: err})
}
