package lifecycle

import (
	"fmt"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// judgeRecorded judges the oldest pending decision about an action that has a record: a Store that carries it out
// and names it, or what its status is to say; nil where no decision is pending. Each answers for one attempt, once.
func (o *Observation) judgeRecorded(action *v1alpha1.Action) Step {
	for i := range o.Decisions {
		decision := &o.Decisions[i]
		if step := o.judgeOne(action, decision); step != nil {
			return step
		}
	}
	return nil
}

func (o *Observation) judgeOne(action *v1alpha1.Action, decision *v1alpha1.TaskDecision) Step {
	switch {
	case carriedOut(action.Decision, decision), carriedOut(action.Approval, decision):
		return Judge{decision, v1alpha1.DecisionApplied, "done"}
	case !o.names(decision):
		return Judge{decision, v1alpha1.DecisionRefused, o.otherUID()}
	case action.Decision != nil && decision.Spec.Action != v1alpha1.DecisionApprove && decision.CreationTimestamp.Before(&action.Decision.At):
		// It was judged before, and only an old cache still shows it as pending.
		return Judge{decision, v1alpha1.DecisionSuperseded, "a later decision was carried out"}
	case decision.Spec.Attempt != action.Attempt.Number:
		return Judge{decision, v1alpha1.DecisionSuperseded, fmt.Sprintf("it judges attempt %d, and the current one is %d", decision.Spec.Attempt, action.Attempt.Number)}
	}
	switch decision.Spec.Action {
	case v1alpha1.DecisionApprove:
		return o.judgeLateApproval(action, decision)
	case v1alpha1.DecisionCancel:
		return o.judgeCancel(action, decision)
	case v1alpha1.DecisionRetry:
		return o.judgeRetry(action, decision)
	case v1alpha1.DecisionConfirmApplied, v1alpha1.DecisionConfirmNotApplied:
		return o.judgeConfirm(action, decision)
	case v1alpha1.DecisionRelease:
		return o.judgeRelease(action, decision)
	default:
		return Judge{decision, v1alpha1.DecisionRefused, "there is no such action"}
	}
}

// judgeLateApproval leaves an approval that an edited template asked for to the next begin.
func (o *Observation) judgeLateApproval(action *v1alpha1.Action, decision *v1alpha1.TaskDecision) Step {
	if action.Phase.Terminal() {
		return Judge{decision, v1alpha1.DecisionRefused, "the submission has finished"}
	}
	if state, why := o.judgeApproval(decision); state != v1alpha1.DecisionPending {
		return Judge{decision, state, why}
	}
	if o.Template.State == TemplateReady && o.distinct(decision) && action.ApprovedDigest != o.Template.Digest && !action.Attempt.Open() {
		return Store{Action: approvedLate(o, action, decision)}
	}
	return nil
}

func (o *Observation) judgeCancel(action *v1alpha1.Action, decision *v1alpha1.TaskDecision) Step {
	switch {
	case action.Phase.Terminal():
		return alreadyEnded(action, decision)
	case action.Attempt.Open(), action.Unsettled:
		return Judge{decision, v1alpha1.DecisionRefused, "the effect may have been applied: wait until that is known, or settle it with ConfirmApplied or ConfirmNotApplied"}
	}
	return Store{Action: cancelled(o, action, decision)}
}

func (o *Observation) judgeRetry(action *v1alpha1.Action, decision *v1alpha1.TaskDecision) Step {
	switch {
	case action.Phase != v1alpha1.PhaseFailed:
		return Judge{decision, v1alpha1.DecisionRefused, "only a failed submission can be retried"}
	case appliedLate(action) > 0:
		return Judge{decision, v1alpha1.DecisionRefused, fmt.Sprintf("attempt %d was reported as applied after it had been taken for failed, so another try could be a second effect: if it shall happen again, submit it under a new key", appliedLate(action))}
	case action.Unapproved:
		return Judge{decision, v1alpha1.DecisionRefused, "it was ended before it was approved, which is final: submit it under a new key"}
	case o.Submission == nil || o.Submission.DeletionTimestamp != nil:
		return Judge{decision, v1alpha1.DecisionRefused, "its submission is gone: apply it again first"}
	case o.Submission.Spec.NotAfter != nil && !o.Now.Before(o.Submission.Spec.NotAfter.Time):
		return Judge{decision, v1alpha1.DecisionRefused, "its notAfter has passed"}
	}
	return Store{Action: retried(o, action, decision)}
}

// appliedLate returns the attempt of a failed action that a late report calls applied (hazard 16), or 0. An attempt that
// was known to be applied in time ended the action as a success, so the history has no other.
func appliedLate(action *v1alpha1.Action) int32 {
	for i := range action.History {
		if action.History[i].Outcome == v1alpha1.OutcomeApplied {
			return action.History[i].Number
		}
	}
	return 0
}

// alreadyEnded says of an action that has ended why a decision changes nothing: of two at once one wins, and the other is
// superseded.
func alreadyEnded(action *v1alpha1.Action, decision *v1alpha1.TaskDecision) Step {
	first := action.Decision
	if decision.Spec.Action == v1alpha1.DecisionConfirmNotApplied && action.Reason == v1alpha1.ReasonVerifiedApplied {
		return Judge{decision, v1alpha1.DecisionSuperseded, "it was applied: the receiver has it, so the submission is a success"}
	}
	if first == nil || first.Action == v1alpha1.DecisionRetry {
		return Judge{decision, v1alpha1.DecisionRefused, "the submission has finished"}
	}
	return Judge{decision, v1alpha1.DecisionSuperseded, fmt.Sprintf("the submission has finished: the decision %q (%s) came first", first.Name, first.Action)}
}

// maxConfirmedResult is what the result of a confirmation may hold, as that of an effect.
const maxConfirmedResult = 16 << 10

func (o *Observation) judgeConfirm(action *v1alpha1.Action, decision *v1alpha1.TaskDecision) Step {
	switch {
	case action.Phase.Terminal():
		return alreadyEnded(action, decision)
	case action.Attempt.Open():
		return Judge{decision, v1alpha1.DecisionRefused, "the attempt is still being carried out: confirm when its outcome is unknown"}
	case o.Runs:
		return Judge{decision, v1alpha1.DecisionRefused, fmt.Sprintf("the Job %s still runs: wait for its end, or delete it, and confirm what came of it then", action.Attempt.Location)}
	case !action.Unsettled:
		return Judge{decision, v1alpha1.DecisionRefused, "there is nothing to confirm: no attempt has an unknown outcome"}
	case decision.Spec.Result != nil && len(decision.Spec.Result.Raw) > maxConfirmedResult:
		return Judge{decision, v1alpha1.DecisionRefused, "its result is larger than 16 KiB: confirm with a shorter one"}
	case decision.Spec.Action == v1alpha1.DecisionConfirmNotApplied && decision.Spec.Result != nil:
		return Judge{decision, v1alpha1.DecisionRefused, "only ConfirmApplied has a result"}
	}
	if decision.Spec.Action == v1alpha1.DecisionConfirmNotApplied {
		return o.judgeNotApplied(action, decision)
	}
	return Store{Action: confirmedApplied(o, action, decision)}
}

// judgeRelease gives a business key free. Asked again after a crash, it finds the claim gone or another's, and is done.
func (o *Observation) judgeRelease(action *v1alpha1.Action, decision *v1alpha1.TaskDecision) Step {
	switch {
	case action.Phase != v1alpha1.PhaseSuccess:
		return Judge{decision, v1alpha1.DecisionRefused, "only a successful submission releases its business key"}
	case action.Claim == "" || action.DuplicateOf != "":
		return Judge{decision, v1alpha1.DecisionRefused, "it holds no business key"}
	case !o.Claim.Read:
		return ReadClaim{}
	case o.holdsClaim():
		return Release{}
	default:
		return Judge{decision, v1alpha1.DecisionApplied, "the business key is not held by this submission any more"}
	}
}

// judgeUnrecorded judges decisions about a submission that has no record. Wait{} says that none needs a word now.
func (o *Observation) judgeUnrecorded(f *finding) Step {
	over := o.Submission.Status.Phase.Terminal() || (f != nil && f.phase == v1alpha1.PhaseFailed)
	for i := range o.Decisions {
		decision := &o.Decisions[i]
		switch {
		case decision.Spec.UID != o.Submission.UID:
			return Judge{decision, v1alpha1.DecisionRefused, o.otherUID()}
		case decision.Spec.Action == v1alpha1.DecisionApprove && decision.Spec.Attempt == 0 && !over:
			if state, why := o.judgeApproval(decision); state != v1alpha1.DecisionPending {
				return Judge{decision, state, why}
			}
		case over:
			return Judge{decision, v1alpha1.DecisionRefused, "the submission has finished, and there is no record that could be reopened: submit under a new key"}
		default:
			return Judge{decision, v1alpha1.DecisionRefused, "nothing was begun yet, so there is nothing to decide but Approve or Cancel, for attempt 0"}
		}
	}
	return Wait{}
}

// judgeOrphaned answers decisions about something that is not there, so that none waits for ever.
func (o *Observation) judgeOrphaned() Step {
	if len(o.Decisions) > 0 {
		return Judge{&o.Decisions[0], v1alpha1.DecisionRefused, "there is no submission of that name, and no record of one"}
	}
	return Wait{}
}

// otherUID says what a decision must name that named something else.
func (o *Observation) otherUID() string {
	switch {
	case o.Submission != nil:
		return fmt.Sprintf("its uid is that of another object of this name; to decide about this submission, make another decision with uid %s", o.Submission.UID)
	default:
		return fmt.Sprintf("its uid is that of another object; the submission is gone: to decide about its record, make another decision with uid %s", o.Record.Object.UID)
	}
}

// names reports whether a decision means this submission or its record, and not another one of the same name.
func (o *Observation) names(decision *v1alpha1.TaskDecision) bool {
	uid := decision.Spec.UID
	return (o.Submission != nil && uid == o.Submission.UID) || (o.Record.Object != nil && uid == o.Record.Object.UID)
}

func carriedOut(stored *v1alpha1.DecisionRef, decision *v1alpha1.TaskDecision) bool {
	return stored != nil && stored.UID == decision.UID
}

func decisionRef(decision *v1alpha1.TaskDecision) *v1alpha1.DecisionRef {
	return &v1alpha1.DecisionRef{
		Name: decision.Name, UID: decision.UID, Action: decision.Spec.Action, Reason: cut(decision.Spec.Reason, maxAttemptMessage),
		By: cut(decision.Annotations[v1alpha1.AnnotationDecidedBy], maxMessage), At: decision.CreationTimestamp,
	}
}
