package lifecycle

import (
	"strconv"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Due returns when somebody must look at a record again although nobody asks for it, and false where only a person
// or the submission can make it go on. The record carries it as a label, which the due loop selects by (I9).
func Due(action *v1alpha1.Action) (time.Time, bool) {
	switch {
	case action.Phase.Terminal(), action.ExpiresAt != nil:
		if action.ExpiresAt == nil {
			return time.Time{}, false
		}
		return action.ExpiresAt.Time, true
	case action.Attempt.Open() && action.Attempt.StartedAt != nil:
		return action.Attempt.StartedAt.Add(action.Attempt.Timeout.Duration + Grace), true
	case action.NextAt != nil:
		return action.NextAt.Time, true
	default:
		return time.Time{}, false
	}
}

// DueLabel returns the value of a record's due label, and false where it needs none. What is stored for a submission
// that is to be removed is due by then, too; zero: there is none.
func DueLabel(action *v1alpha1.Action, removeAt time.Time) (string, bool) {
	at, due := Due(action)
	if !removeAt.IsZero() && (!due || removeAt.Before(at)) {
		at, due = removeAt, true
	}
	return LabelAt(at), due
}

// LabelAt returns the value of the due label for a time.
func LabelAt(at time.Time) string { return strconv.FormatInt(label(at), 10) }

// DueSeconds returns what a due label says; false: there is none.
func DueSeconds(labels map[string]string) (int64, bool) {
	seconds, err := strconv.ParseInt(labels[v1alpha1.LabelDue], 10, 64)
	return seconds, err == nil
}

// label is a time as the due label has it: rounded up, since the loop must never come too early.
func label(at time.Time) int64 { return at.Unix() + 1 }
