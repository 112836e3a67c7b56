package inflight_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inflight"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a table with a clock that is stepped, and who was woken.
type world struct {
	*testing.T
	clock *clocktesting.FakeClock
	table *inflight.Table

	mu    sync.Mutex
	woken []string
}

func newWorld(t *testing.T, limit int) *world {
	w := &world{T: t, clock: clocktesting.NewFakeClock(time.Now())}
	w.table = inflight.New(w.clock, limit, func(action types.NamespacedName) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.woken = append(w.woken, action.Name)
	})
	return w
}

// takeWoken returns who was woken since it was asked last.
func (w *world) takeWoken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	woken := w.woken
	w.woken = nil
	return woken
}

// template returns the bounds of a template.
func template(name string, maxInFlight, perSecond int) inflight.Bulkhead {
	return inflight.Bulkhead{Template: named(name), MaxInFlight: maxInFlight, PerSecond: perSecond}
}

func named(name string) types.NamespacedName { return types.NamespacedName{Namespace: "n", Name: name} }

func (w *world) reserve(action string, bounds inflight.Bulkhead) (*inflight.Flight, inflight.Turn) {
	return w.table.Reserve(inflight.Ticket{Action: named(action), Attempt: 1, Timeout: 30 * time.Second, Bulkhead: bounds})
}

// take reserves a slot that must be there.
func (w *world) take(action string, bounds inflight.Bulkhead) *inflight.Flight {
	w.Helper()
	flight, turn := w.reserve(action, bounds)
	if flight == nil {
		w.Fatalf("%s got no slot; the rate allows one at %v", action, turn.FreeAt)
	}
	return flight
}

// refuse asks for a slot that must not be there, and returns when the rate allows one.
func (w *world) refuse(action string, bounds inflight.Bulkhead) time.Time {
	w.Helper()
	flight, turn := w.reserve(action, bounds)
	if flight != nil {
		w.Fatalf("%s got a slot", action)
	}
	return turn.FreeAt
}

// runs launches a flight and waits for its report.
func (w *world) runs(flight *inflight.Flight) {
	w.Helper()
	flight.Acknowledge()
	done := make(chan struct{})
	if !flight.Launch(func(context.Context) lifecycle.Report {
		defer close(done)
		return lifecycle.Report{Outcome: v1alpha1.OutcomeApplied}
	}) {
		w.Fatal("it was not launched")
	}
	<-done
	w.until(flight, lifecycle.FlightFinished)
}

// until waits for a flight's state; it follows within microseconds.
func (w *world) until(flight *inflight.Flight, state lifecycle.FlightState) {
	w.Helper()
	w.eventually("the state", func() bool { return flight.Observe().State == state })
}

func (w *world) eventually(what string, condition func() bool) {
	w.Helper()
	for timeout := time.After(time.Minute); !condition(); {
		select {
		case <-timeout:
			w.Fatalf("not so after a minute: %s", what)
		case <-time.After(time.Millisecond):
		}
	}
}

func (w *world) want(what string, got, want any) {
	w.Helper()
	if got != want {
		w.Errorf("%s: %v, want %v", what, got, want)
	}
}

func (w *world) wantWoken(want ...string) {
	w.Helper()
	got := w.takeWoken()
	if len(got) != len(want) {
		w.Fatalf("woken: %v, want %v", got, want)
	}
	for i := range want {
		w.want("woken", got[i], want[i])
	}
}
