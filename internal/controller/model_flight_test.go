package controller

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/inflight"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// modelFlights is an in-flight table whose flights the exploration steps, instead of goroutines.
type modelFlights struct {
	world   *world
	process *process
	all     map[types.NamespacedName]*modelFlight
}

type modelFlight struct {
	owner    *modelFlights
	ticket   inflight.Ticket
	state    lifecycle.FlightState
	started  time.Time
	deadline time.Time
	report   lifecycle.Report
	run      func(context.Context) lifecycle.Report
	request  int // of the receiver, from 1; 0: not sent
}

func (t *modelFlights) Reserve(ticket inflight.Ticket) (flight, time.Time) {
	if t.all[ticket.Action] != nil {
		return nil, time.Time{}
	}
	now := modelClock{world: t.world}.Now()
	f := &modelFlight{owner: t, ticket: ticket, state: lifecycle.FlightUnacknowledged, started: now, deadline: now.Add(ticket.Timeout)}
	t.all[ticket.Action] = f
	return f, time.Time{}
}

func (t *modelFlights) Lookup(action types.NamespacedName) flight {
	if f := t.all[action]; f != nil {
		return f
	}
	return nil
}

func (t *modelFlights) Leave(types.NamespacedName) {}

func (t *modelFlights) Actions() []types.NamespacedName { return sortedNames(t.all) }

func (t *modelFlights) Close() {}

func (f *modelFlight) Started() time.Time  { return f.started }
func (f *modelFlight) Deadline() time.Time { return f.deadline }
func (f *modelFlight) Acknowledge()        { f.state = lifecycle.FlightGranted }
func (f *modelFlight) Remove()             { delete(f.owner.all, f.ticket.Action) }

func (f *modelFlight) Launch(run func(context.Context) lifecycle.Report) bool {
	f.state, f.run = lifecycle.FlightRunning, run
	return true
}

func (f *modelFlight) Observe() lifecycle.Flight {
	return lifecycle.Flight{
		State: f.state, Attempt: f.ticket.Attempt, Check: f.ticket.Check, Settled: f.ticket.Settled,
		Running: modelClock{world: f.owner.world}.Since(f.started), Report: f.report,
	}
}

// end runs what the reconciler launched, with what the receiver answers, up to its report.
func (f *modelFlight) end(outcome effect.Outcome, err error) {
	f.report = f.run(context.WithValue(context.Background(), answerKey{}, answer{outcome, err}))
	f.state, f.run = lifecycle.FlightFinished, nil
}

type answerKey struct{}

type answer struct {
	outcome effect.Outcome
	err     error
}

// modelEffect returns what the exploration chose.
type modelEffect struct{}

func (modelEffect) Execute(ctx context.Context, _ effect.Attempt) (effect.Outcome, error) {
	chosen := ctx.Value(answerKey{}).(answer)
	return chosen.outcome, chosen.err
}

func (e modelEffect) Verify(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	return e.Execute(ctx, attempt)
}
