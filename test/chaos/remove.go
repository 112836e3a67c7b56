package main

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// finalizer is somebody else's: it holds a submission that is being deleted.
const finalizer = "chaos.taskonce.dev/held"

// held reports whether the submissions of a key have the finalizer: they can be deleted by force alone.
func (w *world) held(key string) bool { return draw(w.options.Seed, "held "+key).IntN(5) == 0 }

// remove deletes the submission of a key, by force where it is held. Then another client may be faster: the submission
// that was found is gone all the same.
func (a *asker) remove(ctx context.Context, key string) {
	a.w.history.record(a.number, operation{key: key, kind: opDelete, forced: a.w.held(key)}, func(seen *observation) {
		sent, err := a.delete(ctx, key)
		switch {
		case err == nil:
			a.w.tally.add("submissions deleted", 1)
			if a.w.held(key) {
				a.w.tally.add("submissions deleted by force", 1)
			}
			seen.certain, seen.done = true, true
		case apierrors.IsNotFound(err), apierrors.IsConflict(err):
			seen.certain = true
		default:
			seen.lost(err)
			seen.unsent = seen.unsent || !sent
		}
	})
}

// delete says whether anything was sent that may remove the submission: of what is held, the finalizer's removal alone.
func (a *asker) delete(ctx context.Context, key string) (sent bool, err error) {
	s := &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Namespace: a.w.namespace, Name: key}}
	if !a.w.held(key) {
		return true, a.w.api.Delete(ctx, s)
	}
	if err := a.w.api.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
		return false, err
	}
	if err := a.w.api.Delete(ctx, s, client.Preconditions{UID: &s.UID}); err != nil {
		return false, err
	}
	pass(ctx, glance) // the operator sees it being deleted
	release := fmt.Sprintf(`{"metadata": {"uid": %q, "finalizers": null}}`, s.UID)
	return true, a.w.api.Patch(ctx, s, client.RawPatch(types.MergePatchType, []byte(release)))
}

// finish deletes by force whatever is still being deleted, and reports whether there was nothing left.
func (a *asker) finish(ctx context.Context) bool {
	var list v1alpha1.TaskSubmissionList
	if a.w.api.List(ctx, &list, client.InNamespace(a.w.namespace)) != nil {
		return false
	}
	left := 0
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp != nil {
			left++
			a.remove(ctx, list.Items[i].Name)
		}
	}
	return left == 0
}
