package inbox

import (
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// personal are the reasons that no time resolves: somebody has to do something.
var personal = map[v1alpha1.Reason]string{
	v1alpha1.ReasonAwaitingApproval:  "an approval",
	v1alpha1.ReasonOutcomeUnknown:    "an answer: did it happen?",
	v1alpha1.ReasonTemplateNotFound:  "its template",
	v1alpha1.ReasonTemplateNotReady:  "a template that compiles",
	v1alpha1.ReasonTemplateSuspended: "the end of a suspension",
	v1alpha1.ReasonDependencyMissing: "what its template needs",
}

// Asks returns what a person has to do about a reason, in a few words; nothing: the reason alone does not ask for one.
func Asks(reason v1alpha1.Reason) string { return personal[reason] }

// MayAsk reports whether a reason asks for a person in some circumstances, which Complete finds out: what is between attempts
// may lack what its template needs, or after an edit of its effect an approval; and the holder of a business key may have been
// deleted.
func MayAsk(reason v1alpha1.Reason) bool {
	return reason == v1alpha1.ReasonRetrying || reason == v1alpha1.ReasonBusinessKeyHeld
}

// WaitsFor says what a person has to do, in a few words; nothing: it goes on by itself.
func (s *Subject) WaitsFor() string {
	what := Asks(s.Reason())
	switch {
	case what != "":
		return what
	case s.Holder.Stuck:
		return "its business key, whose holder was deleted"
	case s.AwaitsApproval() && s.NeverApproved():
		return Asks(v1alpha1.ReasonAwaitingApproval)
	case s.AwaitsApproval():
		return "an approval of the edited template"
	case s.Lacks() != "":
		return Asks(s.Lacks())
	default:
		return ""
	}
}

// Since is from when on it waits.
func (s *Subject) Since() time.Time {
	if s.Submission == nil {
		return AbandonedSince(s.Record)
	}
	return StalledSince(s.Submission)
}

// StalledSince is from when on a submission waits: when the condition Stalled became true, or else the creation.
func StalledSince(submission *v1alpha1.TaskSubmission) time.Time {
	for i := range submission.Status.Conditions {
		if condition := &submission.Status.Conditions[i]; condition.Type == v1alpha1.ConditionStalled {
			return condition.LastTransitionTime.Time
		}
	}
	return submission.CreationTimestamp.Time
}

// Candidates is a label selector that finds the records of actions that wait for a person: what goes on or expires by itself
// has a due time, and claims name no submission. Where retention.policy is Keep, it also finds all that have finished and are
// kept for good: read it in pages, and keep what is Abandoned.
const Candidates = v1alpha1.LabelSubmission + ",!" + v1alpha1.LabelDue

// Abandoned reports whether a record asks for a person, should its submission be gone.
func Abandoned(record *v1alpha1.TaskRecord) bool {
	return record.Spec.Action != nil && record.Spec.Action.Reason == v1alpha1.ReasonOutcomeUnknown
}

// AbandonedSince is from when on it does.
func AbandonedSince(record *v1alpha1.TaskRecord) time.Time {
	if action := record.Spec.Action; action != nil && action.StartedAt != nil {
		return action.StartedAt.Time
	}
	return record.CreationTimestamp.Time
}
