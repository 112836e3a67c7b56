package controller

import (
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// seeded are rules that are switched off, each in a world where that breaks the named invariant. A model that does not
// find them would prove nothing.
var seeded = []struct {
	scenario
	breaks string
}{
	{scenario{
		name: "settleAfter is ignored", coarse: true, processes: 1, verifies: true, until: 4 * tick,
		budget: budget{LoseReply: 1}, off: lifecycle.Off{SettleAfter: true},
	}, "I4"},
	{scenario{
		name: "an orphan is not waited for", coarse: true, processes: 2, businessKey: true,
		off: lifecycle.Off{OrphanWait: true},
	}, "I4"},
	{scenario{
		name: "a later refusal settles an earlier attempt", coarse: true, processes: 1, idempotent: true, refusesForGood: true, maxChecks: 2,
		until: 3 * tick, budget: budget{LoseReply: 1, Refuse: 1}, decide: refusalSettles,
	}, "I5"},
	{scenario{
		name: "an attempt of one's own is run although its begin was not acknowledged", coarse: true, processes: 1,
		budget: budget{LoseAnswer: 1}, decide: mineSoRunIt,
	}, "I2"},
	{scenario{
		name: "a write that failed counts as done", coarse: true, processes: 1,
		budget: budget{LoseWrite: 1}, trustsLostWrites: true,
	}, "I2"},
	{scenario{
		name: "no compare-and-swap on a later attempt", coarse: true, processes: 2, maxAttempts: 2, until: tick,
		budget: budget{Refuse: 1}, noCompareAndSwap: true,
	}, "I3"},
	{scenario{
		name: "what nobody can find out fails", coarse: true, processes: 1,
		budget: budget{LoseReply: 1}, decide: unknownFails,
	}, "I5"},
}

func TestSeededFaults(t *testing.T) {
	for _, s := range seeded {
		t.Run(s.name, func(t *testing.T) {
			states, broken := explore(s.ready(), mostStates)
			switch {
			case broken == nil:
				t.Fatalf("%d states hold with the rule switched off; want a counterexample to %s", states, s.breaks)
			case !strings.HasPrefix(broken.broken, s.breaks+":"):
				t.Fatalf("it breaks %q; want %s\n\n%s", broken.broken, s.breaks, broken.told())
			}
			t.Logf("%s\n%s", broken.broken, broken.told())
		})
	}
}

// recorded returns the observation with a copy of its record's action that may be changed.
func recorded(o lifecycle.Observation) (lifecycle.Observation, *v1alpha1.Action) {
	if o.Record.Object == nil {
		return o, &v1alpha1.Action{}
	}
	o.Record.Object = o.Record.Object.DeepCopy()
	return o, o.Record.Object.Spec.Action
}

func refusalSettles(o lifecycle.Observation) lifecycle.Step {
	if o.Flight.State == lifecycle.FlightFinished && o.Flight.Report.Outcome == v1alpha1.OutcomeNotApplied {
		var action *v1alpha1.Action
		o, action = recorded(o)
		action.Unsettled = false
	}
	return lifecycle.Decide(o)
}

func mineSoRunIt(o lifecycle.Observation) lifecycle.Step {
	if o.Flight.State == lifecycle.FlightUnacknowledged && o.Record.Object != nil && o.Record.Object.Spec.Action.Attempt.Executor == o.Executor {
		o.Flight.State = lifecycle.FlightGranted
	}
	return lifecycle.Decide(o)
}

func unknownFails(o lifecycle.Observation) lifecycle.Step {
	step := lifecycle.Decide(o)
	if store, ok := step.(lifecycle.Store); ok && store.Action.Reason == v1alpha1.ReasonOutcomeUnknown {
		store.Action.Phase, store.Action.Reason = v1alpha1.PhaseFailed, v1alpha1.ReasonRetriesExhausted
		return store
	}
	return step
}
