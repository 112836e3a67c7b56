package job

import (
	"context"
	"errors"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// Dispose hands the finished Jobs of an action over from its record to the submission, so that the garbage collector
// removes them with it, or at once where it is gone already. Until then they belong to the record, which outlives the
// submission. What is not finished stays the record's.
func (r *run) Dispose(ctx context.Context, attempt effect.Attempt, submission types.UID) error {
	if submission == "" {
		return nil
	}
	list := &batchv1.JobList{}
	if err := r.Cache.List(ctx, list, client.InNamespace(attempt.Namespace), client.MatchingLabels{v1alpha1.LabelSubmission: attempt.Name}); err != nil {
		return err
	}
	var all error
	for i := range list.Items {
		job := &list.Items[i]
		if job.Annotations[annotationRecord] != string(attempt.Record) || !finished(job) || !ownedBy(job, attempt.Record) {
			continue
		}
		all = errors.Join(all, client.IgnoreNotFound(r.patch(ctx, job, map[string]any{"metadata": map[string]any{
			"uid": job.UID, "ownerReferences": []metav1.OwnerReference{owner("TaskSubmission", attempt.Name, submission)},
		}})))
	}
	return all
}

func ownedBy(job *batchv1.Job, uid types.UID) bool {
	return slices.ContainsFunc(job.OwnerReferences, func(reference metav1.OwnerReference) bool { return reference.UID == uid })
}

func owner(kind, name string, uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Name: name, UID: uid, BlockOwnerDeletion: ptr.To(false)}
}
