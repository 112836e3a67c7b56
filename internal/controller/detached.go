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
		r.flights.Keep(action, types.NamespacedName{Namespace: record.Namespace, Name: record.Spec.Template})
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

// disposeDetached keeps the place where it should be and, after the end, lets go what the attempts left behind.
func (r *Submissions) disposeDetached(ctx context.Context, subject *subject) error {
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

// news remembers of which actions a watch has told, until a pass has looked: one whose submission is gone is driven on
// for that alone.
type news struct {
	mu       sync.Mutex
	next     int64
	versions map[types.NamespacedName]int64
}

func (n *news) add(action types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.versions == nil {
		n.versions = map[types.NamespacedName]int64{}
	}
	n.next++
	n.versions[action] = n.next
}

func (n *news) has(action types.NamespacedName) bool { return n.version(action) > 0 }

func (n *news) version(action types.NamespacedName) int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.versions[action]
}

// done forgets what was told up to a version; what was told since is for the next pass.
func (n *news) done(action types.NamespacedName, version int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.versions[action] == version {
		delete(n.versions, action)
	}
}
