package lifecycle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// seeds is how many observations it takes to meet every step and reason.
const seeds uint64 = 60_000

// TestDecideOverRandomObservations: Decide is total and pure, and each step keeps the invariants.
func TestDecideOverRandomObservations(t *testing.T) {
	met := map[string]int{}
	for seed := range seeds {
		o := randomObservation(seed)
		step := decideCalmly(t, seed, o)
		met[strings.Fields(words(&o, step))[0]]++
		if store, ok := step.(Store); ok {
			met[string(store.Action.Reason)]++
		}
		checkStep(t, o, step)
		if seed%8 == 0 {
			before := snapshot(t, o)
			if again := Decide(o); asJSON(t, again) != asJSON(t, step) {
				t.Errorf("two steps for one observation: %s, %s", words(&o, step), words(&o, again))
			}
			checkUntouched(t, before, o)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for _, kind := range []string{"ReadRecord", "ReadClaim", "Begin", "Store", "CreateClaim", "TakeClaim", "Launch", "Poll", "Verify", "Forbid", "Prepare", "Abandon", "Judge", "Adjourn", "Release", "Remove", "Expire", "Wait"} {
		if met[kind] == 0 {
			t.Errorf("the step %s was met %d times: the observations do not cover it", kind, met[kind])
		}
	}
	for _, reason := range []v1alpha1.Reason{
		v1alpha1.ReasonInProgress, v1alpha1.ReasonRetrying, v1alpha1.ReasonVerifying, v1alpha1.ReasonOutcomeUnknown, v1alpha1.ReasonBusinessKeyHeld, v1alpha1.ReasonDependencyMissing,
		v1alpha1.ReasonApplied, v1alpha1.ReasonAlreadyApplied, v1alpha1.ReasonVerifiedApplied, v1alpha1.ReasonConfirmedApplied,
		v1alpha1.ReasonBusinessKeyConflict, v1alpha1.ReasonRejected, v1alpha1.ReasonRetriesExhausted, v1alpha1.ReasonTooLate, v1alpha1.ReasonCancelled, v1alpha1.ReasonConfirmedNotApplied,
	} {
		if met[string(reason)] == 0 {
			t.Errorf("nothing was stored as %s", reason)
		}
	}
}

func decideCalmly(t *testing.T, seed uint64, o Observation) Step {
	t.Helper()
	defer func() {
		if fault := recover(); fault != nil {
			t.Fatalf("seed %d: %v\n%s", seed, fault, snapshot(t, o))
		}
	}()
	step := Decide(o)
	if step == nil {
		t.Fatalf("seed %d: no step\n%s", seed, snapshot(t, o))
	}
	return step
}

// TestProjectOverRandomObservations: what Project says where Decide waits is legal, stable, and stays so while nothing
// happens.
func TestProjectOverRandomObservations(t *testing.T) {
	met := map[v1alpha1.Reason]int{}
	for seed := range seeds {
		o := randomObservation(seed)
		wait, waits := Decide(o).(Wait)
		if !waits || wait.Quiet || o.Submission == nil {
			continue
		}
		s := Project(o)
		met[s.Reason]++
		if s.Reason == v1alpha1.ReasonAccepted && o.Submission.DeletionTimestamp == nil {
			t.Errorf("I9: it waits, and is about to begin: %+v", s)
		}
		if o.Record.Object != nil || !o.Submission.Status.Phase.Terminal() {
			checkStatus(t, o, s)
		}
		quiet := max(wait.In-time.Nanosecond, 0)
		if at := o.Submission.Spec.NotAfter; at != nil && (o.Flight.State == FlightFull || s.Reason == v1alpha1.ReasonBusinessKeyHeld) {
			quiet = min(quiet, max(at.Sub(o.Now)-1, 0)) // what waits its turn is said to be too late when it is looked at
		}
		checkStable(t, o, s, quiet)
		if wait.In == 0 && o.Flight.State != FlightRunning {
			checkStable(t, o, s, 1000*time.Hour)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for reason := range phaseOf {
		switch reason {
		case v1alpha1.ReasonVerifiedApplied, v1alpha1.ReasonConfirmedApplied, v1alpha1.ReasonAlreadyApplied, v1alpha1.ReasonBusinessKeyConflict, v1alpha1.ReasonRetriesExhausted, v1alpha1.ReasonTooLate, v1alpha1.ReasonConfirmedNotApplied:
			// Ends are projected as they are stored; random records end in other ways.
		default:
			if met[reason] == 0 {
				t.Errorf("no status with the reason %s", reason)
			}
		}
	}
}

// TestDecideComesToAWait: from any observation, carrying the steps out leads to a wait within a few steps. What is
// outside answers as well as it can.
func TestDecideComesToAWait(t *testing.T) {
	for seed := range seeds / 4 {
		o := randomObservation(seed)
		var walked []string
		for len(walked) <= 25 {
			step := Decide(o)
			walked = append(walked, words(&o, step))
			if _, waits := step.(Wait); waits {
				if o.Record.Object != nil && o.action().Phase.Terminal() && o.PayloadDigest == o.action().PayloadDigest && !o.ofAnotherKey() && o.Flight.State == FlightNone && o.isDue() {
					t.Fatalf("seed %d: it is left due for ever\n%s", seed, snapshot(t, o))
				}
				break
			}
			carryOut(&o, step)
		}
		if len(walked) > 25 {
			t.Fatalf("seed %d: it does not come to rest:\n%s\n%s", seed, strings.Join(walked, "\n"), snapshot(t, randomObservation(seed)))
		}
	}
}

// carryOut makes the next observation of a step that was acknowledged, as the reconciler does.
func carryOut(o *Observation, step Step) {
	switch step := step.(type) {
	case ReadRecord:
		o.Record.Read = true
	case ReadClaim:
		o.Claim.Read = true
	case Begin:
		store(o, step.Action, time.Time{})
		o.Flight = Flight{State: FlightGranted, Attempt: step.Action.Attempt.Number}
		o.Sighted = 0
	case Store:
		store(o, step.Action, step.RemoveAt)
		if o.Flight.State == FlightFinished {
			o.Flight = Flight{}
		}
	case CreateClaim, TakeClaim:
		claimedBy(o.Record.Object.Name, o.Record.Object.UID, o.action().Retries)(o)
	case Launch:
		o.Flight.State = FlightRunning
	case Check:
		o.Flight = Flight{State: FlightRunning, Attempt: o.action().Attempt.Number, Kind: step.Kind}
	case Abandon:
		o.Flight = Flight{}
	case Adjourn:
		for i := range o.Decisions {
			if o.Decisions[i].UID == step.Decision.UID {
				o.Decisions[i].Status.Message, o.Decisions[i].Status.NextAt = step.Message, micro(step.At)
			}
		}
		o.Flight = Flight{}
	case Judge:
		var left []v1alpha1.TaskDecision
		for i := range o.Decisions {
			if o.Decisions[i].UID != step.Decision.UID {
				left = append(left, o.Decisions[i])
			}
		}
		o.Decisions = left
	case Release:
		o.Claim = Claim{Read: true}
	case Remove:
		gone(o)
	case Expire:
		o.Record = Record{Read: true}
	default:
		panic(fmt.Sprintf("%T", step))
	}
}

// store stores an action as the API server does: what comes back is a copy, with times as they are written.
func store(o *Observation, action v1alpha1.Action, removeAt time.Time) {
	record := o.Record.Object
	if record == nil {
		record = seen(recorded()).Record.Object
	}
	record = record.DeepCopy()
	record.Spec.Action = action.DeepCopy()
	labelled(record, removeAt)
	o.Record = Record{Read: true, Object: record}
}

// labelled gives a record its due label, as package record does.
func labelled(record *v1alpha1.TaskRecord, removeAt time.Time) {
	record.Labels = map[string]string{}
	if due, ok := DueLabel(record.Spec.Action, removeAt); ok {
		record.Labels[v1alpha1.LabelDue] = due
	}
}
