package inflight

import (
	"context"
	"time"

	"github.com/taskonce/taskonce/internal/lifecycle"
)

// Flight is one attempt or check in this process, from its reservation until its report is stored.
type Flight struct {
	table    *Table
	bulkhead *bulkhead
	ticket   Ticket
	started  time.Time
	deadline time.Time

	// Guarded by the table's lock.
	state    lifecycle.FlightState
	launched time.Time // what came before it (the begin's write) is no running time
	report   lifecycle.Report
}

// Started is when the slot was reserved and the deadline started to run.
func (f *Flight) Started() time.Time { return f.started }

// Deadline is when the attempt ends.
func (f *Flight) Deadline() time.Time { return f.deadline }

// Acknowledge grants the launch: the begin was stored by an acknowledged write.
func (f *Flight) Acknowledge() {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	f.state = lifecycle.FlightGranted
}

// Remove gives the slot back. What ran has been stored, or never ran.
func (f *Flight) Remove() { f.table.remove(f) }

// Launch runs the flight in a goroutine of its own, with a context that ends at the deadline, and wakes the action
// when there is a report. It reports false, and runs nothing, where the launch was not granted or was made before, and
// where the table is draining: then the grant is gone too.
func (f *Flight) Launch(run func(context.Context) lifecycle.Report) bool {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	if f.state != lifecycle.FlightGranted {
		return false
	}
	if f.table.draining {
		f.state = lifecycle.FlightUnacknowledged
		return false
	}
	f.state, f.launched = lifecycle.FlightRunning, f.table.clock.Now()
	ctx, cancel := context.WithTimeout(context.Background(), f.deadline.Sub(f.launched))
	go func() {
		defer cancel()
		f.finish(run(ctx))
	}()
	return true
}

func (f *Flight) finish(report lifecycle.Report) {
	f.table.mu.Lock()
	f.state, f.report = lifecycle.FlightFinished, report
	f.table.mu.Unlock()
	if f.table.wake != nil {
		f.table.wake(f.ticket.Action)
	}
}

// Observe returns what the lifecycle wants to know of the flight.
func (f *Flight) Observe() lifecycle.Flight {
	f.table.mu.Lock()
	defer f.table.mu.Unlock()
	observed := lifecycle.Flight{
		State: f.state, Kind: f.ticket.Kind, Attempt: f.ticket.Attempt, Begun: f.ticket.Begun, Report: f.report,
	}
	if !f.launched.IsZero() {
		observed.Running = f.table.clock.Since(f.launched)
	}
	return observed
}
