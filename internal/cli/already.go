package cli

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// already returns the decision of this kind that was carried out and still stands, or nil: to make it again would
// only be refused, and to be told who made it is what somebody in a hurry wants.
func (o *decide) already(ctx context.Context, s *subject) *v1alpha1.TaskDecision {
	reference := standingDecision(s, o.kind.action)
	if reference == nil {
		return nil
	}
	decision := &v1alpha1.TaskDecision{}
	err := o.cluster.api.Get(ctx, types.NamespacedName{Namespace: s.Name.Namespace, Name: reference.Name}, decision)
	if err != nil || decision.UID != reference.UID {
		return nil // the operator judges another one
	}
	decision.Status = v1alpha1.TaskDecisionStatus{State: v1alpha1.DecisionApplied, Message: "done"} // the record says so
	return decision
}

// standingDecision is what the record says of decisions that were carried out.
func standingDecision(s *subject, kind v1alpha1.DecisionAction) *v1alpha1.DecisionRef {
	action := s.Action()
	if action == nil {
		return nil
	}
	if kind == v1alpha1.DecisionApprove {
		if s.AwaitsApproval() {
			return nil
		}
		return action.Approval
	}
	stands := action.Phase.Terminal()
	if kind == v1alpha1.DecisionRetry {
		stands = action.Phase == v1alpha1.PhaseProcessing
	}
	if action.Decision == nil || action.Decision.Action != kind || !stands {
		return nil
	}
	return action.Decision
}
