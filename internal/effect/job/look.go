package job

import (
	"context"
	"encoding/json"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// Verify reads what became of the attempt's Job, live. An error is one of the API server: it cannot be told now.
func (r *run) Verify(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	return r.look(ctx, attempt)
}

// Poll is the same question. The first one after the record knew of the Job lets it go on.
func (r *run) Poll(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	return r.look(ctx, attempt)
}

func (r *run) look(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	if attempt.Job == 0 {
		return effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Final: true, Message: "which Job it ran is not known any more: look for Jobs with the label " + v1alpha1.LabelSubmission + "=" + attempt.Name}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	job, err := r.get(ctx, attempt)
	if err != nil {
		return effect.Outcome{}, err
	}
	if job == nil || !isOf(job, attempt) {
		return gone(attempt), nil
	}
	return r.read(ctx, job, attempt)
}

func (r *run) get(ctx context.Context, attempt effect.Attempt) (*batchv1.Job, error) {
	job := &batchv1.Job{}
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: attempt.Namespace, Name: nameOf(attempt)}, job)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return job, err
}

// gone says what it means that there is no Job. It goes on only after the record knew of it, so one that the record
// never knew of has not run, and a create that is still on its way causes nothing. Any other may have run.
func gone(attempt effect.Attempt) effect.Outcome {
	if attempt.Location == "" {
		return effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Final: true, Message: "its Job was never resumed, so it did not run"}
	}
	return effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Final: true, Message: line("its Job %s is gone, and with it what became of it", attempt.Location)}
}

// read says what a Job of the attempt has come to, and lets one go on that the record knows of.
func (r *run) read(ctx context.Context, job *batchv1.Job, attempt effect.Attempt) (effect.Outcome, error) {
	switch {
	case has(job, batchv1.JobComplete):
		return r.completed(ctx, job)
	case has(job, batchv1.JobFailed):
		return r.failed(ctx, job)
	case job.DeletionTimestamp != nil:
		return inProgress(job, "the Job %s is being deleted"), nil
	case waits(job) && attempt.Location == "":
		return inProgress(job, "the Job %s was made"), nil
	case waits(job):
		return r.letGo(ctx, job)
	case suspended(job):
		return inProgress(job, "the Job %s was suspended by somebody: it goes on when its spec.suspend is false, with a new pod"), nil
	default:
		return inProgress(job, "the Job %s runs"), nil
	}
}

// letGo ends the suspension that the Job was made with. Done twice it is done once: one Job, by its UID.
func (r *run) letGo(ctx context.Context, job *batchv1.Job) (effect.Outcome, error) {
	err := r.patch(ctx, job, map[string]any{
		"metadata": map[string]any{"uid": job.UID, "annotations": map[string]string{annotationLetGo: "true"}},
		"spec":     map[string]any{"suspend": false},
	})
	if err != nil {
		return effect.Outcome{}, err
	}
	return inProgress(job, "the Job %s runs"), nil
}

// patch changes a Job with the UID as precondition.
func (r *run) patch(ctx context.Context, job *batchv1.Job, change map[string]any) error {
	raw, err := json.Marshal(change)
	if err != nil {
		return err
	}
	return r.Client.Patch(ctx, job.DeepCopy(), client.RawPatch(types.MergePatchType, raw))
}

func has(job *batchv1.Job, wanted batchv1.JobConditionType) bool {
	for _, condition := range job.Status.Conditions {
		if condition.Type == wanted {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func finished(job *batchv1.Job) bool {
	return has(job, batchv1.JobComplete) || has(job, batchv1.JobFailed)
}

func suspended(job *batchv1.Job) bool { return ptr.Deref(job.Spec.Suspend, false) }

// waits reports whether a Job has not been let go on yet.
func waits(job *batchv1.Job) bool { return suspended(job) && job.Annotations[annotationLetGo] == "" }
