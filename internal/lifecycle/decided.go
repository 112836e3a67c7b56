package lifecycle

import (
	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Every function here makes the transition that a person's decision makes, and names the decision in it.

// approvedLate takes an approval of what goes on, for its next begin.
func approvedLate(o *Observation, action *v1alpha1.Action, decision *v1alpha1.TaskDecision) v1alpha1.Action {
	next := *action.DeepCopy()
	next.Approval, next.ApprovedDigest = decisionRef(decision), o.Template.Digest
	return o.signed(next)
}

// cancelled ends what certainly had no effect.
func cancelled(o *Observation, action *v1alpha1.Action, decision *v1alpha1.TaskDecision) v1alpha1.Action {
	next := failed(o, action, v1alpha1.ReasonCancelled, "cancelled: "+decision.Spec.Reason)
	next.Decision = decisionRef(decision)
	return next
}

// retried opens a failed action again, with all its tries. It is the only way out of Failed (I5).
func retried(o *Observation, action *v1alpha1.Action, decision *v1alpha1.TaskDecision) v1alpha1.Action {
	next := between(o, action, v1alpha1.ReasonRetrying, "a person asked for another try: "+decision.Spec.Reason, 0)
	next.Tries, next.Checks = 0, 0
	next.Retries++
	next.CompletedAt = nil
	next.Decision = decisionRef(decision)
	return next
}

// confirmedApplied is the success that a person's word makes.
func confirmedApplied(o *Observation, action *v1alpha1.Action, decision *v1alpha1.TaskDecision) v1alpha1.Action {
	result := decision.Spec.Result
	var digest string
	if result != nil {
		digest, _ = v1alpha1.Digest(result.Raw)
	}
	next := succeeded(o, action, v1alpha1.ReasonConfirmedApplied, "a person confirmed that it was applied: "+decision.Spec.Reason, result, digest)
	next.Decision = decisionRef(decision)
	return next
}

// confirmedNotApplied is the end that a person's word makes.
func confirmedNotApplied(o *Observation, action *v1alpha1.Action, decision *v1alpha1.TaskDecision) v1alpha1.Action {
	next := failed(o, action, v1alpha1.ReasonConfirmedNotApplied, "a person confirmed that it had no effect: "+decision.Spec.Reason)
	next.Attempt.Outcome = v1alpha1.OutcomeNotApplied
	next.Decision = decisionRef(decision)
	return next
}
