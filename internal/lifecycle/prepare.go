package lifecycle

import (
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// An attempt that met something missing was never sent. What is missing is looked for before the next one is begun, so
// that waiting uses up no numbers: a person who decides about the attempt still means the current one.

// awaitsDependency reports whether it must be looked whether what the last attempt lacked is there.
func (o *Observation) awaitsDependency(action *v1alpha1.Action) bool {
	return o.Template.Prepares && action.Attempt.Missing
}

// lacks goes on from an attempt that met something missing: it was never sent, and does not count.
func lacks(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	next := *action.DeepCopy()
	next.Attempt.Missing = true
	reason := v1alpha1.ReasonDependencyMissing
	if next.Unsettled {
		reason = v1alpha1.ReasonVerifying
		next.Checks = max(next.Checks-1, 0) // the repeat was not made
	}
	return between(o, &next, reason, o.Flight.Report.Message, dependencyDelay(o, action))
}

// decidePrepared goes on from a look at what was missing: to the next attempt, or to the next look.
func decidePrepared(o *Observation, action *v1alpha1.Action) Step {
	report := &o.Flight.Report
	if o.Flight.Attempt != action.Attempt.Number || !o.awaitsDependency(action) {
		return Abandon{} // it went on without us
	}
	if report.Missing {
		return Store{Action: between(o, action, action.Reason, report.Message, dependencyDelay(o, action))}
	}
	return Store{Action: lacksNothing(o, action)}
}

// lacksNothing goes on at once: what was missing is there.
func lacksNothing(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	next := between(o, action, action.Reason, "what was missing is there now", 0)
	next.Attempt.Missing = false
	return next
}

// dependencyDelay is half of how long it was waited for already, between ten seconds and the longest back-off. What the
// look does not see is missing to each attempt anew, which starts that time again: so it backs off by the number, too.
func dependencyDelay(o *Observation, action *v1alpha1.Action) time.Duration {
	const first = HeldInterval / 3
	var since time.Duration
	if started := action.Attempt.StartedAt; started != nil {
		since = o.Now.Sub(started.Time)
	}
	return max(min(since/2, retryDelay(o, maxBackoff, 0)), retryDelay(o, action.Attempt.Number, first))
}
