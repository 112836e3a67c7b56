package inflight

import (
	"container/list"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
)

// bulkhead counts one template's flights and queues who waits for one: a slow receiver delays its own template only.
// It is guarded by the table's lock.
type bulkhead struct {
	template  types.NamespacedName
	limit     int
	perSecond int
	limiter   *rate.Limiter
	used      int
	// booked is when the rate allows what asked and was told to come back: in its turn, and not all at once.
	booked map[types.NamespacedName]*booking
	queue  *list.List
	places map[types.NamespacedName]*list.Element
}

type booking struct {
	at          time.Time
	reservation *rate.Reservation
}

// bulkhead returns the bulkhead of a template with its bounds as they are now.
func (t *Table) bulkhead(bounds Bulkhead) *bulkhead {
	b := t.bulkheads[bounds.Template]
	if b == nil {
		b = &bulkhead{template: bounds.Template, queue: list.New(), booked: map[types.NamespacedName]*booking{}, places: map[types.NamespacedName]*list.Element{}}
		t.bulkheads[bounds.Template] = b
	}
	b.limit = max(bounds.MaxInFlight, 1)
	if b.perSecond != bounds.PerSecond {
		b.perSecond, b.limiter = bounds.PerSecond, limiterFor(bounds.PerSecond)
		clear(b.booked)
	}
	return b
}

// forget drops a bulkhead that holds nothing, so that templates that are gone leave nothing behind. One with a rate
// keeps its count until it is full again.
func (t *Table) forget(b *bulkhead) {
	if b.used > 0 || b.queue.Len() > 0 || len(b.booked) > 0 {
		return
	}
	if b.limiter != nil && b.limiter.TokensAt(t.clock.Now()) < float64(b.perSecond) {
		return
	}
	if t.bulkheads[b.template] == b { // who was woken still names the one that it asked, which may be gone
		delete(t.bulkheads, b.template)
	}
}

// nextAllowed returns zero where a begin is allowed now, which it then counts, and otherwise when to ask again.
// Checks are not counted: they start nothing.
func (h *bulkhead) nextAllowed(now time.Time, action types.NamespacedName, check bool) time.Time {
	if h.limiter == nil || check {
		return time.Time{}
	}
	if place := h.booked[action]; place != nil {
		if now.Before(place.at) {
			return place.at
		}
		delete(h.booked, action)
		return time.Time{}
	}
	reservation := h.limiter.ReserveN(now, 1)
	delay := reservation.DelayFrom(now)
	if delay <= 0 {
		return time.Time{}
	}
	h.booked[action] = &booking{at: now.Add(delay), reservation: reservation}
	return now.Add(delay)
}

// unbook gives a place back that is not wanted any more.
func (h *bulkhead) unbook(now time.Time, action types.NamespacedName) {
	if place := h.booked[action]; place != nil {
		place.reservation.CancelAt(now)
		delete(h.booked, action)
	}
}

func (h *bulkhead) enqueue(action types.NamespacedName) {
	if h.places[action] == nil {
		h.places[action] = h.queue.PushBack(action)
	}
}

// dequeue takes the first of the queue.
func (h *bulkhead) dequeue() *types.NamespacedName {
	first := h.queue.Front()
	if first == nil {
		return nil
	}
	action := first.Value.(types.NamespacedName)
	h.leave(action)
	return &action
}

// leave takes the action out of the queue, where it is in it.
func (h *bulkhead) leave(action types.NamespacedName) {
	place := h.places[action]
	if place == nil {
		return
	}
	h.queue.Remove(place)
	delete(h.places, action)
}
