package lifecycle

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Where a template cannot be read, or leaves a time out, these count.
const (
	defaultSubmissionTTL = 24 * time.Hour
	defaultFailedTTL     = 168 * time.Hour
	defaultRecordTTL     = 720 * time.Hour
)

// TTL returns how long a submission is kept that ended in a phase. No template: the defaults count.
func TTL(spec *v1alpha1.TaskTemplateSpec, phase v1alpha1.Phase) time.Duration {
	ttl, otherwise := time.Duration(0), defaultFailedTTL
	if phase == v1alpha1.PhaseSuccess {
		otherwise = defaultSubmissionTTL
	}
	switch {
	case spec == nil:
	case phase == v1alpha1.PhaseSuccess:
		ttl = spec.Retention.SubmissionTTL.Duration
	default:
		ttl = spec.Retention.FailedTTL.Duration
	}
	if ttl <= 0 {
		return otherwise
	}
	return ttl
}

// FinishedAt returns since when a submission says that it has finished. It is counted from the condition, and not from
// the end of the action: one that is applied again lives as long as the first. False: it does not say so, and then it
// is not removed.
func FinishedAt(submission *v1alpha1.TaskSubmission) (time.Time, bool) {
	condition := meta.FindStatusCondition(submission.Status.Conditions, v1alpha1.ConditionFinished)
	if !submission.Status.Phase.Terminal() || condition == nil || condition.LastTransitionTime.IsZero() {
		return time.Time{}, false
	}
	return condition.LastTransitionTime.Time, true
}

// unsaid is how long nobody looks again at what does not say since when it has finished, or is being deleted.
const unsaid = 24 * time.Hour

// RemoveUnrecorded returns when a submission is to be removed that failed without a record, and whether that time has
// come; until then it is to be looked at again at that time.
func RemoveUnrecorded(now time.Time, submission *v1alpha1.TaskSubmission, template *v1alpha1.TaskTemplateSpec) (at time.Time, over bool) {
	finished, ok := FinishedAt(submission)
	if !ok || submission.DeletionTimestamp != nil {
		return now.Add(unsaid), false
	}
	at = finished.Add(TTL(template, submission.Status.Phase))
	return at, !now.Before(at)
}

// RecordOf returns the name of the record that a decision was about; empty: it says none.
func RecordOf(decision *v1alpha1.TaskDecision) string {
	return cmp.Or(decision.Labels[v1alpha1.LabelRecord], decision.Status.RecordName)
}

// RemoveDecision returns when a judged decision is to be removed, and whether that time has come; until then it is to be
// looked at again at that time. It goes with its record. Where it never had one (action is nil), it is kept for as long
// as a record is without a template.
func RemoveDecision(now time.Time, decision *v1alpha1.TaskDecision, action *v1alpha1.Action) (at time.Time, over bool) {
	switch {
	case action == nil && RecordOf(decision) != "":
		return now, true
	case action == nil:
		at = decision.CreationTimestamp.Add(defaultRecordTTL)
		return at, !now.Before(at)
	case action.ExpiresAt == nil && action.Phase.Terminal():
		return now.Add(defaultRecordTTL), false // it is kept for ever, but may be deleted
	case action.ExpiresAt == nil || !now.Before(action.ExpiresAt.Time):
		return now.Add(time.Hour), false // it goes on, or somebody still asks for it
	default:
		return action.ExpiresAt.Time, false
	}
}

// removeAt is when the submission of an action that has ended is to be removed; zero where it has none, or where
// somebody is deleting it.
func (o *Observation) removeAt(action *v1alpha1.Action) time.Time {
	s := o.Submission
	if s == nil || s.DeletionTimestamp != nil || !action.Phase.Terminal() || o.PayloadDigest != action.PayloadDigest {
		return time.Time{}
	}
	since, finished := FinishedAt(s)
	if !finished {
		since = o.Now
	}
	return since.Add(TTL(o.Template.Spec, action.Phase))
}

// decideTerminal keeps what is final, renews it where a replay needs it longer, and lets it expire.
func decideTerminal(o *Observation, action *v1alpha1.Action) Step {
	switch {
	case o.Flight.State != FlightNone && o.Flight.State != FlightRunning && o.Flight.State != FlightFull:
		return Abandon{}
	case o.Submission != nil:
		return decideFinished(o, action)
	default:
		return decideRemembered(o, action)
	}
}

// decideFinished keeps a record for as long as its submission may need it, and removes the submission when its time is
// over. Before that the record is renewed, so that what comes back meets it.
func decideFinished(o *Observation, action *v1alpha1.Action) Step {
	_, finished := FinishedAt(o.Submission)
	at := o.removeAt(action)
	over := finished && !at.IsZero() && !o.Now.Before(at)
	switch {
	case o.stillAsked(action), over && action.ExpiresAt != nil && o.halfExpired(action):
		return Store{Action: renewed(o, action)}
	case over:
		return Remove{}
	case o.isDue(), !at.IsZero() && o.isDueAfter(at):
		return Store{Action: o.signed(*action.DeepCopy())} // which labels it with when it is to be looked at
	default:
		return Wait{}
	}
}

// stillAsked reports whether a record must live longer: a replay met it in the second half of its life, or its
// submission still exists at its end.
func (o *Observation) stillAsked(action *v1alpha1.Action) bool {
	if action.ExpiresAt == nil {
		return false
	}
	replay := o.Submission.UID != action.Submission.UID
	return (replay && o.halfExpired(action)) || !o.Now.Before(action.ExpiresAt.Time)
}

// decideRemembered keeps the record of an action that has ended, and whose submission is gone, until it expires. It may
// still be labelled for the submission's removal.
func decideRemembered(o *Observation, action *v1alpha1.Action) Step {
	step := decideExpiry(o, action)
	if _, over := step.(Expire); !over && o.isDue() {
		return Store{Action: o.signed(*action.DeepCopy())}
	}
	return step
}

// decideExpiry lets a record go whose submission is gone and whose time is over.
func decideExpiry(o *Observation, action *v1alpha1.Action) Step {
	switch {
	case action.ExpiresAt == nil:
		return Wait{}
	case o.Now.Before(action.ExpiresAt.Time):
		return o.until(action.ExpiresAt.Time)
	default:
		return Expire{}
	}
}

// isDue reports whether the due loop meets the record: a step that leaves it so would have it looked at for ever.
func (o *Observation) isDue() bool {
	seconds, ok := DueSeconds(o.Record.Object.Labels)
	return ok && seconds < o.Now.Unix()
}

// isDueAfter reports whether nobody would look at the record by a time.
func (o *Observation) isDueAfter(at time.Time) bool {
	seconds, ok := DueSeconds(o.Record.Object.Labels)
	return !ok || seconds > label(at)
}
