package controller

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// An attempt of a detached effect only starts something. Here is what that needs beyond the attempt: its place in the
// limits, the events that tell of it, and its removal.

// place has an action hold its place in the limits while what it started goes on, and gives it back afterwards.
func (r *Submissions) place(action types.NamespacedName, record *v1alpha1.TaskRecord) {
	if lifecycle.Holds(record.Spec.Action) {
		r.flights.Hold(action, types.NamespacedName{Namespace: record.Namespace, Name: record.Spec.Template})
		return
	}
	r.flights.Free(action)
}

func holds(subject *subject) bool {
	return subject.record.Object != nil && lifecycle.Holds(subject.record.Object.Spec.Action)
}

// runs reports whether what the current attempt started goes on, as far as was told: also where a person was asked, who
// must not say what came of it before its end.
func (r *Submissions) runs(subject *subject) bool {
	if subject.plan == nil || subject.record.Object == nil || !lifecycle.Follows(subject.record.Object.Spec.Action) {
		return false
	}
	follower, ok := subject.plan.Effect.(effect.Follower)
	return ok && follower.Runs(subject.action.Namespace, subject.record.Object.Spec.Action.Attempt.Location)
}

// settleDetached keeps the place where it should be and, after the end, lets go what the attempts left behind.
func (r *Submissions) settleDetached(ctx context.Context, subject *subject) error {
	record := subject.record.Object
	if record == nil {
		if subject.record.Read {
			r.flights.Free(subject.action)
		}
		return nil
	}
	r.place(subject.action, record)
	if subject.plan == nil || !record.Spec.Action.Phase.Terminal() {
		return nil
	}
	disposer, ok := subject.plan.Effect.(effect.Disposer)
	if !ok {
		return nil
	}
	return disposer.Dispose(ctx, r.attempt(subject), record.Spec.Action.Submission.UID)
}

// told remembers of which actions a watch has told, until a pass has looked: one whose submission is gone is driven on
// for that alone.
type told struct {
	mu       sync.Mutex
	next     int64
	versions map[types.NamespacedName]int64
}

func (t *told) add(action types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.versions == nil {
		t.versions = map[types.NamespacedName]int64{}
	}
	t.next++
	t.versions[action] = t.next
}

func (t *told) has(action types.NamespacedName) bool { return t.version(action) > 0 }

func (t *told) version(action types.NamespacedName) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.versions[action]
}

// done forgets what was told up to a version; what was told since is for the next pass.
func (t *told) done(action types.NamespacedName, version int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.versions[action] == version {
		delete(t.versions, action)
	}
}
