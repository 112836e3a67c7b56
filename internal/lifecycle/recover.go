package lifecycle

import (
	"fmt"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// decideOrphan waits out an attempt of another process, and of an earlier life of its record: its whole stored
// time-out and a grace, on this process's own clock. Then nobody will send it any more, and what it came to is Unknown.
func decideOrphan(o *Observation, action *v1alpha1.Action) Step {
	lost := action.Attempt.Timeout.Duration + Grace
	if o.Sighted < lost && !o.Off.OrphanWait {
		return Wait{In: lost - o.Sighted}
	}
	if action.Claim != "" {
		if !o.Claim.Read {
			return ReadClaim{}
		}
		if !o.holdsClaim() && !o.isLaterThanBegun(action) {
			return Store{Action: neverLaunched(o, action, "its process stopped before it held the business key, so it was never sent")}
		}
	}
	return Store{Action: orphaned(o, action)}
}

// isLaterThanBegun reports whether the record was created so late that the attempt's own begin cannot have done it: it came
// out of a backup, of a moment before its own UID could be stored, and perhaps before its claim was. Its UID may have been
// stored since, with a late report. The clocks of two machines are compared here, which only makes it more careful.
func (o *Observation) isLaterThanBegun(action *v1alpha1.Action) bool {
	attempt := &action.Attempt
	return attempt.StartedAt != nil &&
		o.Record.Object.CreationTimestamp.After(attempt.StartedAt.Add(attempt.Timeout.Duration+Grace))
}

// recoverAttempt decides what clears up an unsettled action: a check, a repeat that is safe, or a person (I4).
func recoverAttempt(o *Observation, action *v1alpha1.Action) Step {
	if action.Reason == v1alpha1.ReasonOutcomeUnknown {
		return Wait{} // it was asked already; a decision answers
	}
	if o.Template.State != TemplateReady {
		return Wait{} // nothing can be asked until the template is back
	}
	if why := o.asks(action); why != "" {
		return Store{Action: asking(o, action, why)}
	}
	if o.Runs && action.Reason == v1alpha1.ReasonInProgress {
		return Wait{}
	}
	if action.NextAt != nil && o.Now.Before(action.NextAt.Time) {
		return o.until(action.NextAt.Time)
	}
	if o.Flight.State == FlightFull {
		return o.waitForSlot()
	}
	if o.verifies(action) && !o.replaysNow(action) {
		return o.verify(action)
	}
	if !o.mayStart() {
		// Applied again it is sent again, while the receiver remembers it; then a person is asked.
		return o.until(action.StartedAt.Add(o.Template.RemembersFor))
	}
	if o.awaitsDependency(action) {
		return Check{Kind: Preparation}
	}
	return Begin{Action: repeated(o, action)}
}

// asks returns why a person must decide, or nothing.
func (o *Observation) asks(action *v1alpha1.Action) string {
	policy := recovery(o)
	switch {
	case policy.Mode == v1alpha1.RecoveryManual && !o.readsWhatItStarted(action):
		return "the template leaves unknown outcomes to a person"
	case action.EffectDigest == "":
		return "under which effect it was begun is not known any more"
	case o.Template.Digest != action.EffectDigest && !o.readsWhatItStarted(action):
		return "the template's effect or verification was changed since the attempt, so neither can say what became of it"
	case action.Checks >= policy.MaxChecks:
		return fmt.Sprintf("%d checks, which is recovery.maxChecks, have not cleared it up", action.Checks)
	case o.verifies(action), o.remembered(action):
		return ""
	case action.Attempt.Finished:
		return action.Attempt.Message
	case o.Template.ReplaySafe:
		return "the receiver remembers keys no longer than receiver.remembersFor, which has passed"
	default:
		return "the template has no verification, and its receiver is not idempotent"
	}
}

// verifies reports whether there is something to ask: what was seen to finish says nothing new.
func (o *Observation) verifies(action *v1alpha1.Action) bool {
	return o.Template.Verifies && !action.Attempt.Finished
}

// readsWhatItStarted reports whether a check reads the very thing that the attempt started, whatever the template has
// come to say since.
func (o *Observation) readsWhatItStarted(action *v1alpha1.Action) bool {
	return o.Template.Detached && action.Attempt.Job > 0 && !action.Attempt.Finished
}

// remembered reports whether sending the same key again is safe, and not for a person to decide: now, and until the attempt's
// time-out is over.
func (o *Observation) remembered(action *v1alpha1.Action) bool {
	if o.Template.Digest != action.EffectDigest || recovery(o).Mode == v1alpha1.RecoveryManual {
		return false
	}
	return o.Template.ReplaySafe && action.StartedAt != nil && o.Now.Add(o.Template.Timeout).Sub(action.StartedAt.Time) < o.Template.RemembersFor
}

// replaysNow reports whether a repeat takes the place of a check: where checks could not tell and a repeat is safe.
func (o *Observation) replaysNow(action *v1alpha1.Action) bool {
	return action.Checks > 0 && o.remembered(action) && o.mayStart()
}

// mayStart reports whether there is somebody to start an attempt for.
func (o *Observation) mayStart() bool {
	return o.Submission != nil && o.Submission.DeletionTimestamp == nil
}

func (o *Observation) verify(action *v1alpha1.Action) Check {
	if o.untilSettled(action) > 0 {
		return Check{Kind: Verification}
	}
	return Check{Kind: SettledVerification}
}

// untilSettled returns how much is left of the settling time of the current attempt: its whole time-out, and what the
// template's author knows of the receiver.
func (o *Observation) untilSettled(action *v1alpha1.Action) time.Duration {
	if o.Off.SettleAfter {
		return 0
	}
	return action.Attempt.Timeout.Duration + o.Template.SettleAfter - o.Sighted
}

// decideInProgress waits for a receiver that took the action on.
func decideInProgress(o *Observation, action *v1alpha1.Action) Step {
	started := action.Attempt.StartedAt
	stuckAfter := recovery(o).StuckAfter.Duration
	switch {
	case o.Template.State != TemplateReady:
		return Wait{}
	case started != nil && stuckAfter > 0 && o.Now.Sub(started.Time) >= stuckAfter:
		return Store{Action: stuck(o, action)}
	case o.Runs && started != nil && stuckAfter > 0:
		return o.until(started.Add(stuckAfter))
	case o.Runs:
		return Wait{}
	case action.NextAt != nil && o.Now.Before(action.NextAt.Time):
		return o.until(action.NextAt.Time)
	case o.Flight.State == FlightFull:
		return o.waitForSlot()
	default:
		return Check{Kind: Poll}
	}
}
