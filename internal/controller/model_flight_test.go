package controller

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/inflight"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// modelFlights is an in-flight table whose flights the exploration moves, instead of goroutines.
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
	address  string    // where it goes to
	digest   string    // of the effect that it carries out
	record   types.UID // for which it goes
	request  int       // at the receiver, from 1; 0: not sent
}

func (t *modelFlights) Reserve(ticket inflight.Ticket) (flight, inflight.Turn) {
	if t.all[ticket.Action] != nil {
		return nil, inflight.Turn{}
	}
	now := modelClock{world: t.world}.Now()
	f := &modelFlight{owner: t, ticket: ticket, state: lifecycle.FlightUnacknowledged, started: now, deadline: now.Add(ticket.Timeout)}
	t.all[ticket.Action] = f
	if t.world.scenario.sendsBeforeRecord && !ticket.Kind.Checks() {
		t.world.send(t.process, f)
	}
	return f, inflight.Turn{}
}

func (t *modelFlights) Lookup(action types.NamespacedName) flight {
	if f := t.all[action]; f != nil {
		return f
	}
	return nil
}

func (t *modelFlights) GiveUpTurn(types.NamespacedName) {}

func (t *modelFlights) Actions() []types.NamespacedName { return sortedNames(t.all) }

func (t *modelFlights) Close() {}

func (t *modelFlights) Usage() []inflight.Usage { return nil }

func (t *modelFlights) Keep(types.NamespacedName, types.NamespacedName) {}

func (t *modelFlights) Free(types.NamespacedName) {}

func (f *modelFlight) Started() time.Time  { return f.started }
func (f *modelFlight) Deadline() time.Time { return f.deadline }
func (f *modelFlight) Acknowledge()        { f.state = lifecycle.FlightGranted }
func (f *modelFlight) Remove()             { delete(f.owner.all, f.ticket.Action) }

// Launch keeps what is to run, and for which record and effect.
func (f *modelFlight) Launch(run func(context.Context) lifecycle.Report) bool {
	f.state, f.run = lifecycle.FlightRunning, run
	if pass := f.owner.process.pass; pass != nil {
		f.record, f.digest, f.address = pass.record.Object.UID, pass.plan.Digest, pass.plan.Effect.(modelEffect).address
	}
	return true
}

func (f *modelFlight) Observe() lifecycle.Flight {
	return lifecycle.Flight{
		State: f.state, Kind: f.ticket.Kind, Attempt: f.ticket.Attempt, Begun: f.ticket.Begun,
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
type modelEffect struct{ address string }

func (modelEffect) Execute(ctx context.Context, _ effect.Attempt) (effect.Outcome, error) {
	chosen := ctx.Value(answerKey{}).(answer)
	return chosen.outcome, chosen.err
}

func (e modelEffect) Verify(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	return e.Execute(ctx, attempt)
}

func (e modelEffect) Forbid(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	return e.Execute(ctx, attempt)
}

// flightMoves are how an attempt or a check goes on.
func (w *world) flightMoves(i int, name types.NamespacedName, add func(move)) {
	f := w.flightOf(i, name)
	if f.state != lifecycle.FlightRunning {
		return
	}
	if m := w.nextOf(i, name); m != nil {
		add(m)
	}
	hears := func(spend func(*budget) *int, text string) {
		if *spend(&w.budget) == 0 {
			return
		}
		add(func(w *world) {
			*spend(&w.budget)--
			w.flightOf(i, name).end(effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: "no answer"}, nil)
			w.tell(text, i, name.Name)
		})
	}
	switch {
	case f.ticket.Kind.Checks():
		hears(func(b *budget) *int { return &b.CannotTell }, "p%d asks about %s, and the receiver cannot tell")
	case f.request > 0:
		if w.isOver(f) && w.requests[f.request-1].state != requestPending {
			add(func(w *world) { w.hearNothing(i, name) }) // the answer comes too late to be heard
		}
		hears(func(b *budget) *int { return &b.LoseReply }, "p%d loses the connection of %s")
	}
}

// nextOf is how a running flight goes on where nothing goes wrong; nil: it waits for the receiver.
func (w *world) nextOf(i int, name types.NamespacedName) move {
	f := w.flightOf(i, name)
	switch {
	case f.state != lifecycle.FlightRunning:
		return nil
	case f.ticket.Kind == lifecycle.Prohibition:
		return func(w *world) { w.forbid(i, name) }
	case f.ticket.Kind.Checks():
		return func(w *world) { w.hear(i, name, w.verified(name.Name, f.address)) }
	case f.request == 0 && w.isOver(f) && !w.scenario.sendsLate:
		return func(w *world) {
			w.flightOf(i, name).end(effect.Outcome{}, errors.New("the time-out was over before it was sent"))
			w.tell("p%d does not send attempt %d of %s: its time-out is over", i, f.ticket.Attempt, name.Name)
		}
	case f.request == 0:
		return func(w *world) { w.send(w.processes[i], w.flightOf(i, name)) }
	}
	switch q := w.requests[f.request-1]; q.state {
	case requestApplied, requestKnown, requestRefused:
		return func(w *world) { w.hear(i, name, w.answered(&q)) }
	default:
		if w.isOver(f) {
			return func(w *world) { w.hearNothing(i, name) }
		}
		return nil
	}
}

func (w *world) flightOf(i int, name types.NamespacedName) *modelFlight {
	return w.processes[i].submissions.flights.(*modelFlights).all[name]
}

func (w *world) isOver(f *modelFlight) bool { return !modelClock{world: w}.Now().Before(f.deadline) }

func (w *world) hear(i int, name types.NamespacedName, outcome effect.Outcome) {
	f := w.flightOf(i, name)
	f.end(outcome, nil)
	if outcome.Kind == v1alpha1.OutcomeApplied {
		w.processes[i].heard[name.Name] = true
	}
	what := "the answer to"
	if f.ticket.Kind.Checks() {
		what = "what became of"
	}
	w.tell("p%d hears %s attempt %d of %s: %s", i, what, f.ticket.Attempt, name.Name, outcome.Kind)
}

func (w *world) hearNothing(i int, name types.NamespacedName) {
	w.flightOf(i, name).end(effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: "no answer"}, nil)
	w.tell("p%d hears no answer to %s in time", i, name.Name)
}

// send is the moment at which a request leaves.
func (w *world) send(p *process, f *modelFlight) {
	name := f.ticket.Action.Name
	w.tell("p%d sends attempt %d of %s", p.number, f.ticket.Attempt, name)
	w.checkSend(p, f)
	w.requests = append(w.requests, request{
		key: name, address: f.address, attempt: f.ticket.Attempt, executor: p.submissions.Executor, record: f.record,
		lapses: w.scenario.lapses(f.deadline.Sub(modelEpoch)),
	})
	f.request = len(w.requests)
}
