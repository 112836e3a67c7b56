package lifecycle

import (
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Decide says what is to be done next. It is total: for every observation there is a step.
func Decide(o Observation) Step {
	switch step := decide(&o).(type) {
	case Store:
		step.RemoveAt = o.removeAt(&step.Action)
		return step
	case Wait:
		return o.orUntilTried(step)
	default:
		return step
	}
}

func decide(o *Observation) Step {
	switch {
	case o.Record.Object != nil:
		return decideRecorded(o)
	case o.Record.Read && o.Flight.State > FlightFull:
		return decideLost(o)
	case o.Submission == nil && !o.Record.Read:
		return ReadRecord{}
	case o.Submission == nil:
		return o.judgeOrphaned() // no submission, no record: nothing else is left to do
	case !o.Record.Read:
		return decideUnread(o)
	default:
		return decideUnrecorded(o)
	}
}

// decideLost keeps what an attempt came to whose record was deleted while it ran: it is stored again. What was not
// launched gives its slot back: its begin did not land, or is gone.
func decideLost(o *Observation) Step {
	switch {
	case o.Flight.State == FlightFinished && o.Record.Last != nil:
		return Store{Action: conclude(o, o.Record.Last)}
	case o.Flight.State == FlightRunning:
		return Wait{Quiet: true} // what the status says of the attempt is all that is left of it
	default:
		return Abandon{}
	}
}

// decideUnread takes the straight path, which reads nothing: where nothing stands in the way, begin, and let the
// create find out whether there is a record. Before anything else is said the record is read: it answers first.
func decideUnread(o *Observation) Step {
	finding := gate(o)
	switch {
	case o.Flight.State > FlightFull:
		return ReadRecord{} // something is in hand, so there was a record
	case finding != nil && finding.reason == v1alpha1.ReasonInvalidName:
		return o.judgeUnrecorded(finding) // the name is not the key's, so there is no record to ask
	case finding != nil, hasHistory(&o.Submission.Status):
		return ReadRecord{}
	case o.Flight.State == FlightFull && o.Flight.Asked < QuietInQueue && len(o.Decisions) == 0:
		return Wait{In: min(QuietInQueue-o.Flight.Asked, o.waitForSlot().In), Quiet: true}
	case o.Flight.State != FlightNone:
		return ReadRecord{}
	default:
		return Begin{Action: begin(o, newAction(o))}
	}
}

// hasHistory reports whether a status speaks of anything that a record should know of.
func hasHistory(status *v1alpha1.TaskSubmissionStatus) bool {
	return status.Attempts > 0 || status.Phase == v1alpha1.PhaseProcessing || status.Phase.Terminal() || status.RecordName != ""
}

// decideUnrecorded decides for a submission that certainly has no record.
func decideUnrecorded(o *Observation) Step {
	status := &o.Submission.Status
	if status.Phase.Terminal() {
		// Without a record a verdict about the input stands; and a result whose record was deleted by hand stands too.
		return o.judgeUnrecorded(nil)
	}
	if status.Attempts > 0 || status.Phase == v1alpha1.PhaseProcessing {
		// Status makes us more careful, never less: an attempt that it knows of may have had its effect (I4).
		return Store{Action: unsettledFromStatus(o)}
	}
	finding := gate(o)
	if finding != nil && finding.verdict {
		return Store{Action: verdict(o, finding)} // then the record answers every decision
	}
	if step := o.judgeUnrecorded(finding); step != (Wait{}) {
		return step
	}
	switch {
	case finding != nil && finding.phase == v1alpha1.PhaseFailed:
		return Wait{}
	case finding != nil:
		return finding.wait(o)
	case o.Flight.State == FlightFull:
		return o.waitForSlot()
	default:
		return Begin{Action: begin(o, newAction(o))}
	}
}

// decideRecorded decides for an action that has a record.
func decideRecorded(o *Observation) Step {
	action := o.action()
	if o.Submission != nil && (o.PayloadDigest != action.PayloadDigest || o.ofAnotherKey()) {
		return decideReused(*o)
	}
	if o.Flight.State == FlightFinished {
		return decideReported(o, action)
	}
	if o.restored() {
		return Store{Action: unsettledFromBackup(o, action)}
	}
	if step := o.judgeRecorded(action); step != nil {
		return step
	}
	switch {
	case action.Phase.Terminal():
		return decideTerminal(o, action)
	case o.Flight.State == FlightUnacknowledged:
		return decideUnacknowledged(o, action)
	case o.Flight.State == FlightRunning:
		return decideRunning(o)
	case o.Flight.State == FlightGranted:
		return decideGranted(o, action)
	case action.Attempt.Open():
		return decideOrphan(o, action)
	case action.Attempt.Outcome == v1alpha1.OutcomeInProgress:
		return decideInProgress(o, action)
	case action.Unsettled:
		return recoverAttempt(o, action)
	default:
		return decideBetween(o, action)
	}
}

// decideReported stores what came of a flight.
func decideReported(o *Observation, action *v1alpha1.Action) Step {
	denies := o.Flight.Kind.Checks() && o.Flight.Report.Outcome != v1alpha1.OutcomeApplied
	switch {
	case o.alreadyStored(action):
		return Abandon{}
	case o.Flight.Kind == Preparation && !o.restored():
		return decidePrepared(o, action)
	case o.restored(): // a report of the time before does not settle what may have followed the backup
		unsettled := unsettledFromBackup(o, action)
		if denies {
			return Store{Action: unsettled}
		}
		return Store{Action: conclude(o, &unsettled)}
	case denies && o.Flight.Kind == Prohibition:
		return decideForbidden(o, action)
	default:
		return Store{Action: conclude(o, action)}
	}
}

// decideReused does whatever the action needs that the key belongs to, as if this submission were not there (I6). Its
// record stays while the key is in use.
func decideReused(o Observation) Step {
	o.Submission = nil
	step := decideRecorded(&o)
	if _, over := step.(Expire); over {
		return Wait{}
	}
	return step
}

// ofAnotherKey reports whether the record guards another key than the submission's: that of a submission of the same
// name, which was deleted while its attempt runs.
func (o *Observation) ofAnotherKey() bool { return o.Record.Object.Spec.Key != o.Key }

func (o *Observation) action() *v1alpha1.Action { return o.Record.Object.Spec.Action }

// decideUnacknowledged clears up a begin whose answer was lost. What only an acknowledgement may launch was not
// launched; where the write landed after all, that is stored, so that the next attempt can go on.
func decideUnacknowledged(o *Observation, action *v1alpha1.Action) Step {
	if o.isBegunHere(&action.Attempt) {
		return Store{Action: neverLaunched(o, action, "its begin was stored, but the answer was lost: it was never sent")}
	}
	return Abandon{}
}

// isBegunHere reports whether an attempt is open by this flight's very begin. One that this process began before, and
// that came back in a restored record, may have been sent.
func (o *Observation) isBegunHere(attempt *v1alpha1.Attempt) bool {
	return attempt.Open() && attempt.Executor == o.Executor && attempt.Number == o.Flight.Attempt &&
		attempt.StartedAt != nil && attempt.StartedAt.Time.Truncate(time.Microsecond).Equal(o.Flight.Begun.Truncate(time.Microsecond))
}

func decideRunning(o *Observation) Step {
	if left := QuietFor - o.Flight.Running; left > 0 && o.Flight.Kind == Execution && o.Submission != nil && betweenAttempts(&o.Submission.Status) {
		return Wait{In: left, Quiet: true}
	}
	return Wait{}
}

// betweenAttempts reports whether a status says that nothing runs, before the first attempt or before the next.
func betweenAttempts(status *v1alpha1.TaskSubmissionStatus) bool {
	return status.Phase == v1alpha1.PhasePending || status.Reason == v1alpha1.ReasonRetrying
}

// decideGranted goes from an acknowledged begin to the effect, by way of the claim where there is a business key.
func decideGranted(o *Observation, action *v1alpha1.Action) Step {
	if !action.Attempt.Open() || action.Attempt.Number != o.Flight.Attempt || action.Attempt.Executor != o.Executor {
		return Abandon{} // the record went on without us
	}
	if action.Claim == "" {
		return launch(o, action)
	}
	return decideClaim(o, action)
}

// launch lets a granted attempt go under the template that it was begun under, for a submission that is still there.
// Between the begin and here lies a pass that failed, where a claim could not be written.
func launch(o *Observation, action *v1alpha1.Action) Step {
	if o.Template.State != TemplateReady || o.Template.Digest != action.EffectDigest || !o.mayStart() {
		return Store{Action: neverLaunched(o, action, "its template or its submission changed before it was sent: it was never sent")}
	}
	return Launch{}
}

// decideBetween goes on where the last attempt certainly had no effect.
func decideBetween(o *Observation, action *v1alpha1.Action) Step {
	if o.Submission == nil {
		return decideLeftAlone(o, action)
	}
	if action.LeftAlone() && o.mayStart() {
		return Store{Action: resumed(o, action)}
	}
	if finding := regate(o, action); finding != nil {
		if finding.verdict {
			return Store{Action: failed(o, action, finding.reason, finding.message)}
		}
		return finding.wait(o)
	}
	if action.Reason == v1alpha1.ReasonBusinessKeyHeld {
		if step := decideHeld(o, action); step != nil {
			return step
		}
	}
	pause := checkPause(o)
	switch {
	case action.NextAt != nil && o.Now.Before(action.NextAt.Time) && action.Reason != v1alpha1.ReasonBusinessKeyHeld:
		return o.until(action.NextAt.Time)
	case pause != nil:
		return byNotAfter(o, pause).wait(o)
	case o.Flight.State == FlightFull:
		return o.waitForSlot()
	case o.awaitsDependency(action):
		return Check{Kind: Preparation}
	default:
		return Begin{Action: begin(o, action)}
	}
}

// decideLeftAlone keeps an action whose submission is gone and of which nothing is in doubt. No attempt starts for
// it; applying the submission again goes on with it, and otherwise it expires.
func decideLeftAlone(o *Observation, action *v1alpha1.Action) Step {
	if action.ExpiresAt == nil && (!o.keepsRecords() || action.NextAt != nil) {
		return Store{Action: leftAlone(o, action)}
	}
	return decideExpiry(o, action)
}

// alreadyStored reports whether the record says what the flight reports: the write landed whose answer was lost. A
// check that reports after the end has nothing to add either.
func (o *Observation) alreadyStored(action *v1alpha1.Action) bool {
	if o.Flight.Kind.Checks() {
		contradicts := action.Phase == v1alpha1.PhaseFailed && o.Flight.Report.Outcome == v1alpha1.OutcomeApplied
		return action.Phase.Terminal() && !contradicts
	}
	attempt := &action.Attempt
	return attempt.Number == o.Flight.Attempt && attempt.Executor == o.Executor && attempt.Outcome == o.Flight.Report.Outcome
}

func (o *Observation) waitForSlot() Wait {
	if !o.Flight.FreeAt.IsZero() {
		return o.until(o.Flight.FreeAt)
	}
	return Wait{In: HeldInterval}
}

// restored reports whether the record is another object than the one that it says it is: it came out of a backup,
// and what happened after the backup is unknown.
func (o *Observation) restored() bool {
	action := o.action()
	return action.UID != "" && action.UID != o.Record.Object.UID && !action.Phase.Terminal()
}
