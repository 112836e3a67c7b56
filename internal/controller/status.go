package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/taskonce/taskonce/api/v1alpha1"
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
	logStatus(ctx, &status)
	subject.submission = updated
	if status.Phase.Terminal() {
		r.memory.settle(subject.action, updated.UID)
		return nil
	}
	r.memory.unsettle(subject.action)
	r.memory.wrote(subject.action, updated)
	return nil
}

// logStatus says in the log what somebody will ask about: what failed, and what waits for a person. The message is the
// status's to say: it may quote what was submitted.
func logStatus(ctx context.Context, status *v1alpha1.TaskSubmissionStatus) {
	log := logf.FromContext(ctx).WithValues("phase", status.Phase, "reason", status.Reason, "attempts", status.Attempts)
	if status.Phase == v1alpha1.PhaseFailed || status.Reason == v1alpha1.ReasonOutcomeUnknown {
		log.Info("status written")
		return
	}
	log.V(1).Info("status written")
}
