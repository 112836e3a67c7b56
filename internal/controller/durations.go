package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	events "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// pace is what durations are measured from: when this process saw a submission being created, and since when an action
// could have gone on. Only metrics are made of it; losing it makes them coarser.
type pace struct {
	mu      sync.Mutex
	arrived map[types.NamespacedName]arrival
	ready   map[types.NamespacedName]time.Time
}

type arrival struct {
	uid types.UID
	at  time.Time
}

// predicate notes what arrives and leaves, and lets every event through. What was there before this process is not
// noted: it did not see it being created.
func (p *pace) predicate(now func() time.Time) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e events.CreateEvent) bool {
			if !e.IsInInitialList {
				p.arrive(client.ObjectKeyFromObject(e.Object), arrival{uid: e.Object.GetUID(), at: now()})
			}
			return true
		},
		DeleteFunc: func(e events.DeleteEvent) bool {
			p.depart(client.ObjectKeyFromObject(e.Object))
			return true
		},
	}
}

func (p *pace) arrive(action types.NamespacedName, arrival arrival) {
	p.mu.Lock()
	defer p.mu.Unlock()
	set(&p.arrived, action, arrival)
}

func (p *pace) depart(action types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.arrived, action)
}

// stale is how much later than its creation, which the API server cuts to a second, a submission may have been seen and
// count as seen at once.
const stale = 2 * time.Second

// created returns when a submission was created: to the second, unless this process saw it.
func (p *pace) created(action types.NamespacedName, submission *v1alpha1.TaskSubmission) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := submission.CreationTimestamp.Time
	seen, ok := p.arrived[action]
	if ok && seen.uid == submission.UID && seen.at.After(at) && seen.at.Sub(at) < stale {
		return seen.at
	}
	return at
}

// waits notes when an action can go on: after a wait, or not before something changes. For one whose submission is gone
// no attempt begins.
func (p *pace) waits(subject *subject, now time.Time, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait > 0 && subject.submission != nil {
		set(&p.ready, subject.action, now.Add(wait))
		return
	}
	delete(p.ready, subject.action)
}

// readySince returns since when an attempt could have begun that asks for a place now, and keeps that until it begins.
func (p *pace) readySince(action types.NamespacedName, orElse, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	since, known := p.ready[action]
	if !known {
		since = orElse
	}
	if since.After(now) {
		since = now // something woke it before its time
	}
	set(&p.ready, action, since)
	return since
}

func (p *pace) begins(action types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.ready, action)
}

func set[V any](m *map[types.NamespacedName]V, action types.NamespacedName, value V) {
	if *m == nil {
		*m = map[types.NamespacedName]V{}
	}
	(*m)[action] = value
}
