package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// Execute makes the Job, suspended: nothing runs by that. One that is there already is taken for this attempt's where it
// carries the record's UID and the number, and a stranger's is waited for until it is gone. An error means that no Job
// was made.
func (r *run) Execute(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	job, err := r.build(attempt)
	if err != nil {
		return effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Permanent: true, Message: line("the Job cannot be made: %v", err)}, nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return effect.Outcome{}, context.Cause(ctx)
	}
	if effect.Over(time.Now(), attempt.Deadline) {
		return effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Message: "the deadline was over before the Job could be made"}, nil
	}
	ctx, cancel := context.WithDeadline(ctx, attempt.Deadline)
	defer cancel()
	err = r.Client.Create(ctx, job)
	switch {
	case err == nil:
		return inProgress(job, "the Job %s was made"), nil
	case apierrors.IsAlreadyExists(err):
		return r.adopt(ctx, attempt)
	default:
		return refused(err)
	}
}

// adopt goes on with a Job that an earlier create of the same name made.
func (r *run) adopt(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	job, err := r.get(ctx, attempt)
	switch {
	case err != nil:
		return effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: line("its Job is there, and cannot be read: %v", err)}, nil
	case job == nil:
		return effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: "its Job was there, and was gone when it was read"}, nil
	case !isOf(job, attempt):
		return effect.Outcome{}, effect.Missing("a Job %q is in this namespace that is not this submission's, so nothing was begun: rename or delete that Job", job.Name)
	}
	outcome, err := r.read(ctx, job, attempt)
	if err != nil {
		return effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: line("its Job is there, and what became of it cannot be read: %v", err)}, nil
	}
	return outcome, nil
}

func inProgress(job *batchv1.Job, message string) effect.Outcome {
	return effect.Outcome{Kind: v1alpha1.OutcomeInProgress, Location: job.Name, Message: fmt.Sprintf(message, job.Name)}
}

// refused says what an API server's refusal means. What is not certainly a refusal may have made the Job.
func refused(err error) (effect.Outcome, error) {
	notApplied := effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Message: line("the API server refuses the Job: %v", err)}
	switch {
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		notApplied.Permanent = true
		return notApplied, nil
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return effect.Outcome{}, effect.Missing("%s", line("the API server refuses the Job (a right of the operator, a quota or a policy): %v", err))
	case utilnet.IsConnectionRefused(err):
		return effect.Outcome{}, effect.Missing("the API server does not answer, so no Job was made")
	case apierrors.IsNotFound(err):
		return notApplied, nil
	case apierrors.IsTooManyRequests(err):
		if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
			notApplied.RetryAfter = time.Duration(seconds) * time.Second
		}
		return notApplied, nil
	default:
		return effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: line("whether the Job was made is not known: %v", err)}, nil
	}
}

const maxMessage = 512

// line is a message of one line, cut to what a record holds.
func line(format string, arguments ...any) string {
	return effect.OneLine(fmt.Sprintf(format, arguments...), maxMessage)
}
