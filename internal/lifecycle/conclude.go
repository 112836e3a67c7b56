package lifecycle

import (
	"fmt"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// conclude stores what came of an attempt or of a check.
func conclude(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	report := &o.Flight.Report
	switch {
	case action.Phase.Terminal():
		return late(o, action)
	case report.Outcome == v1alpha1.OutcomeApplied && o.Flight.Kind.Checks() && action.Attempt.Outcome != v1alpha1.OutcomeInProgress:
		// Applied is absorbing, whichever attempt it belongs to.
		return succeeded(o, action, v1alpha1.ReasonVerifiedApplied, orElse(report.Message, "the receiver has it"), jsonOf(report.Result), report.ResultDigest)
	case report.Outcome == v1alpha1.OutcomeApplied:
		return succeeded(o, action, v1alpha1.ReasonApplied, orElse(report.Message, "the effect was applied"), jsonOf(report.Result), report.ResultDigest)
	case !o.reportsCurrent(action):
		return late(o, action)
	case report.Final:
		return concludeFinal(o, action)
	case o.Flight.Kind.Checks():
		return concludeCheck(o, action)
	default:
		return concludeAttempt(o, action)
	}
}

// reportsCurrent reports whether a report is about the attempt as it stands: a check about one that is still in doubt,
// and the effect's own report about an attempt of this very process. Another record of the key has the same numbers.
func (o *Observation) reportsCurrent(action *v1alpha1.Action) bool {
	switch {
	case o.Flight.Attempt != action.Attempt.Number:
		return false
	case o.Flight.Kind.Checks():
		return action.Unsettled && !action.Attempt.Open()
	default:
		return action.Attempt.Executor == o.Executor
	}
}

func concludeAttempt(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	report := &o.Flight.Report
	switch report.Outcome {
	case v1alpha1.OutcomeInProgress:
		next := takenOn(o, action, report.Location, report.Message)
		wait := pollDelay(o, action, report.RetryAfter)
		if action.Attempt.Job > 0 {
			wait = 0 // it goes on only now that the record knows of it
		}
		return between(o, &next, v1alpha1.ReasonInProgress, polling(o, action, report.Message), wait)
	case v1alpha1.OutcomeNotApplied:
		next := closed(o, action, report.Outcome, report.Message)
		return concludeRefusal(o, &next)
	default: // Unknown, and whatever is not a word of ours
		next := doubted(o, action, report.Message)
		message := report.Message
		if next.Checks > 0 {
			message += fmt.Sprintf("; the same was sent again under its key, check %d of at most %d, after which a person is asked", next.Checks, recovery(o).MaxChecks)
		}
		return between(o, &next, v1alpha1.ReasonVerifying, message, unknownDelay(o, &next))
	}
}

// concludeRefusal goes on from an attempt that had no effect. While an earlier one is unsettled, no refusal ends the
// action: the refusal of attempt 2 says nothing about attempt 1 (I4).
func concludeRefusal(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	report := &o.Flight.Report
	if report.Missing {
		return lacks(o, action)
	}
	if report.Unauthorized && !action.Unsettled {
		return between(o, action, v1alpha1.ReasonRetrying, report.Message+"; it is tried again, which spends none of retry.maxAttempts: correct the Secrets that the template names, or the template",
			retryDelay(o, action.Attempt.Number, max(report.RetryAfter, HeldInterval/3)))
	}
	next := *action.DeepCopy()
	next.Tries++
	wait := retryDelay(o, next.Tries, report.RetryAfter)
	switch {
	case next.Unsettled:
		return between(o, &next, v1alpha1.ReasonVerifying, report.Message+"; but an earlier attempt may have been applied", wait)
	case report.Permanent:
		return failed(o, &next, v1alpha1.ReasonRejected, report.Message)
	case next.Tries >= maxAttempts(o):
		return failed(o, &next, v1alpha1.ReasonRetriesExhausted, "retry.maxAttempts is used up; the last attempt: "+report.Message)
	default:
		left := maxAttempts(o) - next.Tries
		return between(o, &next, v1alpha1.ReasonRetrying, fmt.Sprintf("%s; it is tried again, at most %d more times", report.Message, left), wait)
	}
}

// concludeCheck goes on from a poll or a verification that did not say Applied.
func concludeCheck(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	report := &o.Flight.Report
	next := *action.DeepCopy()
	switch {
	case report.Outcome == v1alpha1.OutcomeInProgress && action.Attempt.Job > 0 && action.Attempt.Location == "":
		// What was started was found. Only now that the record knows of it may it go on.
		next = takenOn(o, action, report.Location, report.Message)
		return between(o, &next, v1alpha1.ReasonInProgress, report.Message, 0)
	case report.Outcome == v1alpha1.OutcomeInProgress && action.Attempt.Outcome != v1alpha1.OutcomeInProgress:
		// Verification after an unknown outcome: it waits on, and spends no check.
		return between(o, &next, v1alpha1.ReasonInProgress, report.Message+"; it is asked again", pollDelay(o, action, report.RetryAfter))
	case action.Attempt.Outcome == v1alpha1.OutcomeInProgress:
		// A poll, also one that cannot tell: the receiver has taken it on, so it is asked again until stuckAfter.
		return between(o, &next, v1alpha1.ReasonInProgress, polling(o, action, report.Message), pollDelay(o, action, report.RetryAfter))
	case report.Outcome == v1alpha1.OutcomeNotApplied && o.Flight.Kind == SettledVerification:
		return concludeNothing(o, &next)
	case report.Outcome == v1alpha1.OutcomeNotApplied:
		return between(o, &next, v1alpha1.ReasonVerifying, "the receiver does not have it yet; that is believed when it is asked after the settling time", max(o.untilSettled(action), time.Millisecond))
	default:
		next.Checks++
		message := fmt.Sprintf("%s; check %d of at most %d, after which a person is asked", report.Message, next.Checks, recovery(o).MaxChecks)
		return between(o, &next, v1alpha1.ReasonVerifying, message, retryDelay(o, next.Checks, report.RetryAfter))
	}
}

// concludeNothing goes on from a "no" that can be believed: no attempt had an effect. The last one counts as a try, since
// it was made: a receiver that never answers in time, and never applies anything, is not tried for ever.
func concludeNothing(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	next := verifiedNot(o, action)
	left := maxAttempts(o) - next.Tries
	if left <= 0 {
		return failed(o, &next, v1alpha1.ReasonRetriesExhausted, "retry.maxAttempts is used up; the last attempt: "+next.Attempt.Message)
	}
	return between(o, &next, v1alpha1.ReasonRetrying, fmt.Sprintf("%s; it is tried again, at most %d more times", next.Attempt.Message, left), 0)
}

// unknownDelay is how soon an unknown outcome is looked into: at once where the receiver can be asked, and after the
// back-off where all that can be done is to send again.
func unknownDelay(o *Observation, action *v1alpha1.Action) time.Duration {
	floor := o.Flight.Report.RetryAfter
	if o.Template.Verifies && action.Checks == 0 {
		return floor
	}
	return retryDelay(o, action.Checks+1, floor)
}

// polling says until when a receiver that took an action on is asked. Of a Job a watch tells.
func polling(o *Observation, action *v1alpha1.Action, message string) string {
	if action.Attempt.Job > 0 {
		return message
	}
	return fmt.Sprintf("%s; it is asked again, for %s at most (recovery.stuckAfter)", message, recovery(o).StuckAfter.Duration)
}

// pollDelay is a tenth of how long the receiver has had it already, between a second and a minute: a short action is
// seen soon, and a long one costs few writes. What a watch tells of is asked for only then, so a second is enough.
func pollDelay(o *Observation, action *v1alpha1.Action, floor time.Duration) time.Duration {
	var since time.Duration
	if started := action.Attempt.StartedAt; started != nil && action.Attempt.Job == 0 {
		since = o.Now.Sub(started.Time)
	}
	return max(min(max(since/10, time.Second), time.Minute), floor)
}

func orElse(message, otherwise string) string {
	if message == "" {
		return otherwise
	}
	return message
}
