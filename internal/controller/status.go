package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// writeStatus writes the projection where it differs from what was read. A submission that is gone needs no
// status.
func (r *Submissions) writeStatus(ctx context.Context, subject *subject, status v1alpha1.TaskSubmissionStatus) error {
	if equality.Semantic.DeepEqual(subject.submission.Status, status) {
		return nil
	}
	failpoint("before-status")
	updated := subject.submission.DeepCopy()
	updated.Status = status
	if err := r.Client.Status().Update(ctx, updated); err != nil {
		return client.IgnoreNotFound(err)
	}
	failpoint("after-status")
	subject.submission = updated
	if status.Phase.Terminal() {
		r.memory.settle(subject.action, updated.UID)
		return nil
	}
	r.memory.unsettle(subject.action)
	r.memory.wrote(subject.action, updated)
	return nil
}

// judge writes what came of a decision. One that was carried out can be seen in the status first: the cache does not
// hold what a Retry opens again, so until then only the pending decision has somebody look at it (I9).
func (r *Submissions) judge(ctx context.Context, subject *subject, step lifecycle.Judge) error {
	if step.State == v1alpha1.DecisionApplied && subject.submission != nil {
		if err := r.writeStatus(ctx, subject, lifecycle.Project(r.observation(subject))); err != nil {
			return err
		}
	}
	decision := step.Decision.DeepCopy()
	decision.Status = v1alpha1.TaskDecisionStatus{State: step.State, Message: step.Message}
	if err := r.Client.Status().Update(ctx, decision); client.IgnoreNotFound(err) != nil {
		return err
	}
	subject.decisions = without(subject.decisions, decision)
	return nil
}

func without(decisions []v1alpha1.TaskDecision, judged *v1alpha1.TaskDecision) []v1alpha1.TaskDecision {
	var left []v1alpha1.TaskDecision
	for i := range decisions {
		if decisions[i].UID != judged.UID {
			left = append(left, decisions[i])
		}
	}
	return left
}
