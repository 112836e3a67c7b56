package cli

import (
	"context"
	"errors"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/pkg/submit"
)

// following follows a submission until something is enough.
type following func(ctx context.Context, enough func(*v1alpha1.TaskSubmission) bool) (*v1alpha1.TaskSubmission, error)

// await waits for the end of a submission, or until a person must say what came of it. The error has the exit code of
// what it found.
func await(ctx context.Context, name string, follow following) (*v1alpha1.TaskSubmission, error) {
	found, err := follow(ctx, func(now *v1alpha1.TaskSubmission) bool {
		return now.Status.Phase.Terminal() || now.Status.Reason == v1alpha1.ReasonOutcomeUnknown
	})
	var gone *submit.GoneError
	switch {
	case err == nil:
		return found, endOf(found)
	case errors.As(err, &gone) && gone.Last == nil:
		return found, failed(exitError, "%w", err)
	case errors.As(err, &gone):
		return found, failed(exitUnknown, "%w", err)
	case ctx.Err() == nil:
		return found, err
	case found == nil:
		return nil, failed(exitUnknown, "%s: %w", name, err)
	default:
		return found, failed(exitUnknown, "%s has not finished (%s: %s): %w", name, standing(found), found.Status.Message, err)
	}
}

// endOf returns nil for a Success, and otherwise what to say, with the exit code.
func endOf(s *v1alpha1.TaskSubmission) error {
	switch {
	case s.Status.Phase == v1alpha1.PhaseSuccess:
		return nil
	case s.Status.Phase == v1alpha1.PhaseFailed:
		return failed(exitFailed, "%s is Failed (%s): %s", s.Name, s.Status.Reason, s.Status.Message)
	case s.Status.Reason == v1alpha1.ReasonOutcomeUnknown:
		return failed(exitUnknown, "%s has an unknown outcome: %s; see: kubectl taskonce explain %s -n %s", s.Name, s.Status.Message, s.Name, s.Namespace)
	default:
		return failed(exitUnknown, "%s has not finished (%s): %s", s.Name, standing(s), s.Status.Message)
	}
}
