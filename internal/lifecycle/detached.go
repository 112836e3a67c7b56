package lifecycle

import (
	"github.com/taskonce/taskonce/api/v1alpha1"
)

// nameStarted gives an attempt of a detached effect the name of what it starts. Until that was seen finished the name stays,
// so that the API server refuses the second one; only then does the number grow, to the attempt's own. What was let go under a
// name, and was not seen to finish, may have been deleted: the next of that name says nothing of it.
func nameStarted(o *Observation, action *v1alpha1.Action, next *v1alpha1.Attempt) {
	last := &action.Attempt
	switch {
	case !o.Template.Detached:
	case last.Job > 0 && !last.Finished:
		next.Job, next.Location = last.Job, last.Location
		next.Doubt = last.Doubt || last.Location != "" && action.Unsettled
	default:
		next.Job, next.Doubt = next.Number, action.Unsettled
	}
}

// concludeFinal goes on from an answer that will not change any more: what was started has finished, is gone, or never
// was. Asking again is of no use.
func concludeFinal(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	report := &o.Flight.Report
	next := closedForGood(o, action)
	switch {
	case report.Outcome == v1alpha1.OutcomeNotApplied && report.Finished:
		return concludeRefusal(o, &next)
	case report.Outcome == v1alpha1.OutcomeNotApplied: // it does not count
		return between(o, &next, goingOn(&next), report.Message, retryDelay(o, next.Attempt.Number, report.RetryAfter))
	case !o.remembered(&next):
		return asking(o, &next, report.Message)
	}
	next.Checks++ // the repeat takes the place of the next one
	return between(o, &next, v1alpha1.ReasonVerifying, report.Message, retryDelay(o, next.Checks, report.RetryAfter))
}

// closedForGood closes an attempt with such an answer. A "no" settles the action, too, where what an earlier attempt started
// was not in doubt.
func closedForGood(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	report := &o.Flight.Report
	next := doubted(o, action, report.Message)
	if report.Outcome == v1alpha1.OutcomeNotApplied {
		next = closed(o, action, report.Outcome, report.Message)
		next.Unsettled = next.Attempt.Doubt
	}
	next.Attempt.Finished = report.Finished
	return next
}

func goingOn(action *v1alpha1.Action) v1alpha1.Reason {
	if action.Unsettled {
		return v1alpha1.ReasonVerifying
	}
	return v1alpha1.ReasonRetrying
}

// Follows reports whether what the attempt of an action started can be followed: its end is told.
func Follows(action *v1alpha1.Action) bool {
	attempt := &action.Attempt
	return action.Unsettled && attempt.Job > 0 && attempt.Location != "" && !attempt.Open() && !attempt.Finished
}

// Holds reports whether an action holds its place in the limits without being in flight: what its attempt started goes
// on, as far as is known.
func Holds(action *v1alpha1.Action) bool {
	return Follows(action) && action.Reason != v1alpha1.ReasonOutcomeUnknown
}
