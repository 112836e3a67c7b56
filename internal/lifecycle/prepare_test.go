package lifecycle

import (
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func prepares(o *Observation) { o.Template.Prepares = true }

// lacking: the attempt met something missing, and was never sent.
func lacking(a *v1alpha1.Action) {
	a.Reason, a.Attempt.Outcome, a.Attempt.Missing, a.NextAt = v1alpha1.ReasonDependencyMissing, v1alpha1.OutcomeNotApplied, true, micro(t0)
}

// looked is what came of a look for what was missing.
func looked(report Report) option {
	return checked(Preparation, report)
}

func TestWhatIsMissingIsLookedForBeforeTheNextAttempt(t *testing.T) {
	there := Report{Outcome: v1alpha1.OutcomeUnknown}
	repeat := func(a *v1alpha1.Action) { unknown(a); checks(1)(a); a.Attempt.Missing = true }
	decideAll(t, []row{
		{"it is looked for", seen(recorded(lacking), prepares), "Prepare", ""},
		{"not before its time", seen(recorded(lacking, nextIn(time.Minute)), prepares), "Wait 1m0s", ""},
		{"an effect that cannot look tries", seen(recorded(lacking)), "Begin 2", ""},
		{"a submission that is gone needs nothing", seen(recorded(lacking, expiresIn(time.Hour)), gone, prepares), "Wait 1h0m0s", ""},
		{"it is still missing, and the attempt keeps its number", seen(recorded(lacking), prepares, looked(noSecret)), "Store Processing/DependencyMissing, attempt 1 NotApplied, in 10s", "no Secret"},
		{"the longer it is missing, the less often it is looked for", seen(recorded(lacking, begunAt(t0.Add(-100*time.Second))), prepares, looked(noSecret)), "Store Processing/DependencyMissing, attempt 1 NotApplied, in 50s", ""},
		{"up to the longest back-off", seen(recorded(lacking, begunAt(t0.Add(-time.Hour))), prepares, looked(noSecret)), "Store Processing/DependencyMissing, attempt 1 NotApplied, in 1m0s", ""},
		{"what the look does not see is missing to the next attempt", seen(recorded(number(2)), prepares, reported(noSecret), ofAttempt(2)), "Store Processing/DependencyMissing, attempt 2 NotApplied, in 10s", "no Secret"},
		{"and to the one after it, which is made ever later", seen(recorded(number(5)), prepares, reported(noSecret), ofAttempt(5)), "Store Processing/DependencyMissing, attempt 5 NotApplied, in 16s", ""},
		{"up to the longest back-off again", seen(recorded(number(20)), prepares, reported(noSecret), ofAttempt(20)), "Store Processing/DependencyMissing, attempt 20 NotApplied, in 1m0s", ""},
		{"it is there", seen(recorded(lacking), prepares, looked(there)), "Store Processing/DependencyMissing, attempt 1 NotApplied, in 0s", "is there now"},
		{"and is not looked for again", after(seen(recorded(lacking), prepares, looked(there))), "Begin 2", ""},
		{"the next attempt begins", seen(recorded(lacking, func(a *v1alpha1.Action) { a.Attempt.Missing = false }), prepares), "Begin 2", ""},
		{"a decision means the attempt that waits", seen(recorded(lacking), prepares, decided(v1alpha1.DecisionCancel, 1)), "Store Failed/Cancelled, attempt 1 NotApplied", ""},
		{"a look that comes late says nothing", seen(recorded(retrying), prepares, looked(noSecret)), "Abandon", ""},
		{"nor one about an earlier attempt", seen(recorded(lacking, number(2)), prepares, looked(there)), "Abandon", ""},
		{"nor after the end", seen(recorded(hasFailed), prepares, looked(noSecret)), "Abandon", ""},
		{"a repeat that could not be made waits in the same way", seen(recorded(repeat), prepares, replaySafe), "Prepare", ""},
		{"still missing", seen(recorded(repeat), prepares, replaySafe, looked(noSecret)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 10s", "no Secret"},
		{"there: it is sent again", seen(recorded(repeat, func(a *v1alpha1.Action) { a.Attempt.Missing = false }), prepares, replaySafe), "Begin 2", ""},
	})
}

// after is what is seen when the step was carried out.
func after(o Observation) Observation {
	o.Record.Object = o.Record.Object.DeepCopy()
	next := Decide(o).(Store).Action
	o.Record.Object.Spec.Action, o.Flight = &next, Flight{}
	return o
}
