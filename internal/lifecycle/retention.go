package lifecycle

import (
	"strconv"
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

// labelled is when the record says that somebody must look at it.
func (o *Observation) labelled() (seconds int64, ok bool) {
	seconds, err := strconv.ParseInt(o.Record.Object.Labels[v1alpha1.LabelDue], 10, 64)
	return seconds, err == nil
}

// isDue reports whether the due loop meets the record: a step that leaves it so would have it looked at for ever.
func (o *Observation) isDue() bool {
	seconds, ok := o.labelled()
	return ok && seconds < o.Now.Unix()
}

// isDueAfter reports whether nobody would look at the record by a time.
func (o *Observation) isDueAfter(at time.Time) bool {
	seconds, ok := o.labelled()
	return !ok || seconds > label(at)
}

// label is a time as the due label has it: rounded up, since the loop must never come too early.
func label(at time.Time) int64 { return at.Unix() + 1 }
