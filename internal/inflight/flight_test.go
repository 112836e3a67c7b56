package inflight_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inflight"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

func TestTheDeadlineStartsWithTheReservation(t *testing.T) {
	w := newWorld(t, 1)
	started := w.clock.Now()
	flight := w.take("a", template("t", 1, 0))
	w.clock.Step(29 * time.Second) // the begin was slow to be acknowledged
	w.want("started", flight.Started(), started)
	w.want("deadline", flight.Deadline(), started.Add(30*time.Second))
	w.want("running", flight.Observe().Running, time.Duration(0))

	flight.Acknowledge()
	left := make(chan time.Duration, 1)
	flight.Launch(func(ctx context.Context) lifecycle.Report {
		deadline, _ := ctx.Deadline()
		left <- time.Until(deadline)
		return lifecycle.Report{}
	})
	if got := <-left; got > time.Second {
		t.Errorf("%v are left to the effect, want at most a second", got)
	}
	w.until(flight, lifecycle.FlightFinished)
}

func TestNothingIsLeftOfADeadlineThatPassed(t *testing.T) {
	w := newWorld(t, 1)
	flight := w.take("a", template("t", 1, 0))
	w.clock.Step(time.Minute)
	flight.Acknowledge()
	over := make(chan error, 1)
	flight.Launch(func(ctx context.Context) lifecycle.Report {
		over <- ctx.Err()
		return lifecycle.Report{}
	})
	if err := <-over; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the context says %v", err)
	}
	w.until(flight, lifecycle.FlightFinished)
}

func TestOnlyAnAcknowledgedBeginIsLaunchedAndOnlyOnce(t *testing.T) {
	w := newWorld(t, 1)
	flight := w.take("a", template("t", 1, 0))
	var ran atomic.Int32
	run := func(context.Context) lifecycle.Report {
		ran.Add(1)
		return lifecycle.Report{Outcome: v1alpha1.OutcomeApplied, Message: "done"}
	}
	w.want("launched unacknowledged", flight.Launch(run), false)
	w.want("state", flight.Observe().State, lifecycle.FlightUnacknowledged)
	flight.Acknowledge()
	w.want("launched", flight.Launch(run), true)
	w.want("launched again", flight.Launch(run), false)
	w.until(flight, lifecycle.FlightFinished)
	w.want("launched when finished", flight.Launch(run), false)
	w.want("runs", ran.Load(), int32(1))
	w.want("report", flight.Observe().Report.Message, "done")
}

func TestAReportWakesItsActionAndStaysUntilItIsStored(t *testing.T) {
	w := newWorld(t, 1)
	flight := w.take("a", template("t", 1, 0))
	w.runs(flight)
	w.eventually("it is woken", func() bool { return len(w.takeWoken()) == 1 })
	if w.table.Lookup(named("a")) != flight {
		t.Error("the report is gone before it was stored")
	}
	flight.Remove()
	if w.table.Lookup(named("a")) != nil {
		t.Error("the flight is still there")
	}
}

func TestWhatATicketSaysIsObserved(t *testing.T) {
	w := newWorld(t, 1)
	flight, _ := w.table.Reserve(inflight.Ticket{Action: named("a"), Attempt: 7, Kind: lifecycle.SettledVerification, Bulkhead: template("t", 1, 0)})
	got := flight.Observe()
	if got.Attempt != 7 || got.Kind != lifecycle.SettledVerification {
		t.Errorf("observed: %+v", got)
	}
}

func TestStoppingLaunchesNothingAndKeepsReports(t *testing.T) {
	w := newWorld(t, 5)
	finished, granted := w.take("finished", template("t", 5, 0)), w.take("granted", template("t", 5, 0))
	w.runs(finished)
	granted.Acknowledge()

	w.table.Close()
	w.refuse("late", template("t", 5, 0))
	w.want("launched", granted.Launch(func(context.Context) lifecycle.Report { return lifecycle.Report{} }), false)
	w.want("the grant", granted.Observe().State, lifecycle.FlightUnacknowledged)
	w.want("the report", finished.Observe().State, lifecycle.FlightFinished)
	w.want("flights", len(w.table.Actions()), 2)
}
