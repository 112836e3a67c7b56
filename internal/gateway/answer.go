package gateway

import (
	"context"
	"errors"
	"net/http"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/pkg/submit"
)

// answerOf answers with a submission as it is: every duplicate with what the first one got.
func answerOf(s *v1alpha1.TaskSubmission, first bool) (*submitOutput, *Problem) {
	replayed := ""
	if s.Status.Phase.Terminal() && (!first || s.Status.Replayed) {
		replayed = "true"
	}
	switch {
	case s.Status.Phase == v1alpha1.PhaseSuccess:
		return &submitOutput{Status: http.StatusCreated, Location: location(s), Replayed: replayed, Body: viewOf(s)}, nil
	case s.Status.Phase == v1alpha1.PhaseFailed:
		p := problemWith(problemTypeOf(s.Status.Reason), s)
		if replayed != "" {
			p.header.Set(headerReplayed, replayed)
		}
		return nil, p
	case first:
		return &submitOutput{Status: http.StatusAccepted, Location: location(s), RetryAfter: comeBack, Body: viewOf(s)}, nil
	default:
		return nil, problemWith(inProcess, s).later()
	}
}

// problemWith says a problem of a submission that is there.
func problemWith(kind ProblemType, s *v1alpha1.TaskSubmission) *Problem {
	p := problem(kind, s.Status.Message)
	p.Submission = viewOf(s)
	p.header.Set("Location", location(s))
	return p
}

// problemTypeOf is the type of the problem that a failed submission is: the same that admission would have said, had it been asked.
func problemTypeOf(reason v1alpha1.Reason) ProblemType {
	switch reason {
	case v1alpha1.ReasonInvalidParameters, v1alpha1.ReasonKeyMismatch, v1alpha1.ReasonInvalidName:
		return invalidParameters
	case v1alpha1.ReasonKeyReused:
		return keyReused
	default:
		return notApplied
	}
}

// problemFromSubmit says why an action was not, or may not have been, submitted.
func problemFromSubmit(ctx context.Context, err error) *Problem {
	var other *submit.OtherPayloadError
	var refused *submit.RefusedError
	var unknown *submit.UnknownError
	var blocked *submit.BlockedError
	switch {
	case errors.As(err, &unknown): // first: a refusal may be inside it
		return problem(unanswered, "the API server did not answer in time: send the same request again, under the same key, to find out").later()
	case errors.As(err, &other):
		return problem(keyReused, "the key belongs to another action, with another template or other parameters: give this one a key of its own")
	case errors.As(err, &blocked):
		return blockedBy(blocked)
	case errors.As(err, &refused):
		return problemFromAPI(ctx, refused.Err)
	default:
		return problem(unavailable, "the API server cannot be reached").later()
	}
}

// blockedBy says what has the key's name without holding the key. It is not shown: whose it is was not asked.
func blockedBy(blocked *submit.BlockedError) *Problem {
	if !blocked.Existing.Invalid() {
		return problem(unavailable, "the submission "+blocked.Existing.Name+" has another template or other parameters, and the operator has not looked at it: whether the key is its own is not known yet").later()
	}
	return problem(keyBlocked, "the submission "+blocked.Existing.Name+" failed for its input ("+string(blocked.Existing.Status.Reason)+"), nothing ran under it, and it may not be deleted with the rights that this request has")
}
