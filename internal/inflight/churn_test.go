package inflight

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/taskonce/taskonce/internal/lifecycle"
)

// TestNothingIsLeftBehind runs thousands of actions of many templates against tight bounds. Every one is woken until
// it has had its turn, or leaves, and then nothing of it is left.
func TestNothingIsLeftBehind(t *testing.T) {
	const actions, workers, limit = 5000, 16, 8
	turns := make(chan types.NamespacedName, 4*actions)
	clock := clocktesting.NewFakeClock(time.Now())
	table := New(clock, limit, func(action types.NamespacedName) { turns <- action })

	var left sync.WaitGroup
	left.Add(actions)
	for i := range actions {
		turns <- types.NamespacedName{Namespace: "n", Name: fmt.Sprint(i)}
	}
	all := make([]state, actions)
	done := make(chan struct{}) // turns stays open: a flight that was removed may still be about to wake its action
	var work sync.WaitGroup
	for range workers {
		work.Go(func() {
			for {
				select {
				case <-done:
					return
				case action := <-turns:
					all[number(action)].once(func() bool { return turn(table, action) }, left.Done)
				}
			}
		})
	}
	left.Wait()
	close(done)
	work.Wait()

	table.mu.Lock()
	defer table.mu.Unlock()
	if len(table.flights)+len(table.bulkheads)+len(table.queueing) > 0 {
		t.Errorf("left behind: %d flights, %d bulkheads, %d who ask", len(table.flights), len(table.bulkheads), len(table.queueing))
	}
}

// state has an action looked at by one worker at a time, and not any more when it is over: as a work queue does.
type state struct {
	mu   sync.Mutex
	over bool
}

func (s *state) once(turn func() bool, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over && turn() {
		s.over = true
		done()
	}
}

func number(action types.NamespacedName) (n int) {
	_, _ = fmt.Sscan(action.Name, &n)
	return n
}

// turn does for an action what a reconciler does, and reports whether it is over.
func turn(table *Table, action types.NamespacedName) bool {
	number := number(action)
	if flight := table.Lookup(action); flight != nil {
		if flight.Observe().State != lifecycle.FlightFinished {
			return false
		}
		flight.Remove()
		return true
	}
	bounds := Bulkhead{Template: types.NamespacedName{Namespace: "n", Name: fmt.Sprint("template-", number%7)}, MaxInFlight: 2}
	flight, _ := table.Reserve(Ticket{Action: action, Attempt: 1, Timeout: time.Minute, Bulkhead: bounds})
	switch {
	case flight == nil && number%5 == 0:
		table.GiveUpTurn(action) // its submission was deleted
		return true
	case flight == nil:
		return false
	case number%11 == 0:
		flight.Remove() // its begin was not acknowledged
		return true
	}
	flight.Acknowledge()
	flight.Launch(func(context.Context) lifecycle.Report { return lifecycle.Report{} })
	return false
}
