// Package inflight holds the attempts and checks that run in this process: how many may, which template's turn it
// is, and what came of each until that is stored. Nothing here knows a record or a receiver.
package inflight

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/taskonce/taskonce/internal/lifecycle"
)

// Table is the in-flight table. Its methods may be called from any goroutine.
type Table struct {
	clock clock.Clock
	limit int
	wake  func(types.NamespacedName)

	mu        sync.Mutex
	flights   map[types.NamespacedName]*Flight
	bulkheads map[types.NamespacedName]*bulkhead
	kept      map[types.NamespacedName]*bulkhead // whose places outlast their flights
	queueing  map[types.NamespacedName]queueing  // who waits in a queue, or was woken from it and has not answered
	draining  bool
}

// New returns a table for at most limit flights. wake is called, outside any lock, with the action that has something
// new to look at: its flight finished, or a slot that it waited for is free.
func New(clock clock.Clock, limit int, wake func(types.NamespacedName)) *Table {
	return &Table{
		clock: clock, limit: limit, wake: wake,
		flights:   map[types.NamespacedName]*Flight{},
		bulkheads: map[types.NamespacedName]*bulkhead{},
		kept:      map[types.NamespacedName]*bulkhead{},
		queueing:  map[types.NamespacedName]queueing{},
	}
}

// Bulkhead bounds what one template may do at once.
type Bulkhead struct {
	// Template is the template whose bulkhead it is.
	Template types.NamespacedName
	// MaxInFlight is how many flights it may have, PerSecond how many may begin in a second (0: any number).
	MaxInFlight, PerSecond int
}

// Ticket describes a flight that is asked for.
type Ticket struct {
	// Action is the submission's namespace and name.
	Action types.NamespacedName
	// Attempt is the number of the attempt that is executed or checked.
	Attempt int32
	// Kind says what it is for.
	Kind lifecycle.FlightKind
	// Begun is what the attempt's begin says of when it was begun; zero for a check.
	Begun time.Time
	// Timeout starts to run now.
	Timeout  time.Duration
	Bulkhead Bulkhead
}

// queueing is where an action asks for a slot, and since when.
type queueing struct {
	bulkhead *bulkhead
	since    time.Time
}

// Turn is what is known of the turn of an action that got no slot.
type Turn struct {
	// FreeAt is when the rate allows another try, or zero.
	FreeAt time.Time
	// Asked is for how long it has been asking.
	Asked time.Duration
}

// Reserve takes a slot and starts the deadline. Where there is none it returns nil and what is known of the turn, and the
// action is woken when one is free.
func (t *Table) Reserve(ticket Ticket) (*Flight, Turn) {
	flight, turn, next := t.reserve(ticket)
	t.wakeUp(next)
	return flight, turn
}

// reserve also returns who can use the slot instead, where the rate keeps this one from it.
func (t *Table) reserve(ticket Ticket) (flight *Flight, turn Turn, next *types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.flights[ticket.Action] != nil || t.draining {
		return nil, Turn{}, nil
	}
	b := t.bulkhead(ticket.Bulkhead)
	now := t.clock.Now()
	mine := t.kept[ticket.Action] == b
	if len(t.flights) >= t.limit || (b.used >= b.limit && !mine) {
		b.enqueue(ticket.Action)
		return nil, Turn{Asked: t.ask(b, ticket.Action, now)}, nil
	}
	if at := b.nextAllowed(now, ticket.Action, ticket.Kind.Checks()); !at.IsZero() {
		return nil, Turn{FreeAt: at, Asked: t.ask(b, ticket.Action, now)}, t.nextBeside(b)
	}
	b.leave(ticket.Action)
	delete(t.queueing, ticket.Action)
	if !mine {
		b.used++
	}
	flight = &Flight{table: t, bulkhead: b, ticket: ticket, state: lifecycle.FlightUnacknowledged, started: now, deadline: now.Add(ticket.Timeout)}
	t.flights[ticket.Action] = flight
	return flight, Turn{}, nil
}

// ask notes that an action asks for a slot, and returns for how long it has.
func (t *Table) ask(b *bulkhead, action types.NamespacedName, now time.Time) time.Duration {
	since := now
	if before, ok := t.queueing[action]; ok {
		since = before.since
	}
	t.queueing[action] = queueing{bulkhead: b, since: since}
	return now.Sub(since)
}

// Lookup returns the flight of an action, or nil.
func (t *Table) Lookup(action types.NamespacedName) *Flight {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.flights[action]
}

// GiveUpTurn says that an action does not want a slot any more, and passes one on to whoever waits. An action that never
// asked costs nothing.
func (t *Table) GiveUpTurn(action types.NamespacedName) { t.wakeUp(t.giveUpTurn(action)) }

func (t *Table) giveUpTurn(action types.NamespacedName) (next *types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	asked, ok := t.queueing[action]
	if !ok {
		return nil
	}
	b := asked.bulkhead
	delete(t.queueing, action)
	b.leave(action)
	b.unbook(t.clock.Now(), action)
	return t.passOn(b)
}

// remove gives a flight's slot back and wakes whoever waits for it.
func (t *Table) remove(flight *Flight) { t.wakeUp(t.land(flight)) }

func (t *Table) land(flight *Flight) (next *types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.flights[flight.ticket.Action] != flight {
		return nil
	}
	delete(t.flights, flight.ticket.Action)
	if t.kept[flight.ticket.Action] != flight.bulkhead {
		flight.bulkhead.used--
	}
	return t.passOn(flight.bulkhead)
}

// passOn takes who can go on now out of its queue, and drops the bulkhead where nothing is left in it.
func (t *Table) passOn(b *bulkhead) (next *types.NamespacedName) {
	next = t.next(b)
	t.forget(b)
	return next
}

// next takes who can use a free slot out of its queue: the first of this bulkhead or, since the bound on all flights may
// be what others wait for, of any.
func (t *Table) next(b *bulkhead) *types.NamespacedName {
	if first := t.nextFor(b); first != nil {
		return first
	}
	return t.nextBeside(b)
}

func (t *Table) nextBeside(b *bulkhead) *types.NamespacedName {
	for _, other := range t.bulkheads {
		if other == b {
			continue
		}
		if first := t.nextFor(other); first != nil {
			return first
		}
	}
	return nil
}

// nextFor takes the first action out of a bulkhead's queue where there is room for it, or returns nil.
func (t *Table) nextFor(b *bulkhead) *types.NamespacedName {
	if len(t.flights) >= t.limit || b.used >= b.limit {
		return nil
	}
	return b.dequeue()
}

func (t *Table) wakeUp(action *types.NamespacedName) {
	if action != nil && t.wake != nil {
		t.wake(*action)
	}
}

// Close lets nothing start any more. What runs goes on, and reports stay until they are stored.
func (t *Table) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.draining = true
}

// Actions returns the actions that have a flight.
func (t *Table) Actions() []types.NamespacedName {
	t.mu.Lock()
	defer t.mu.Unlock()
	actions := make([]types.NamespacedName, 0, len(t.flights))
	for action := range t.flights {
		actions = append(actions, action)
	}
	return actions
}

// limiterFor makes the rate limiter of a bulkhead; nil: no bound.
func limiterFor(perSecond int) *rate.Limiter {
	if perSecond <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(perSecond), perSecond)
}
