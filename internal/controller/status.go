package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/failpoint"
)

// writeStatus writes the projection. A submission that is gone needs no status, and neither does another one of its name.
func (r *Submissions) writeStatus(ctx context.Context, subject *subject, status v1alpha1.TaskSubmissionStatus) error {
	err := r.updateStatus(ctx, subject, status)
	if apierrors.IsConflict(err) && status.Phase.Terminal() && subject.record.Object != nil {
		// Whoever was first may have taken the submission out of the cache with another verdict, and then nothing
		// brings us back: the record's word is written over it now.
		if err = r.rereadSubmission(ctx, subject, err); err == nil {
			err = r.updateStatus(ctx, subject, status)
		}
		if err == nil {
			r.memory.endWritten(subject.action, subject.submission.UID) // by whomever
		}
	}
	return client.IgnoreNotFound(err)
}

// updateStatus writes a status where it differs from what was read, and tells of that. An error means that it told of nothing.
func (r *Submissions) updateStatus(ctx context.Context, subject *subject, status v1alpha1.TaskSubmissionStatus) error {
	if equality.Semantic.DeepEqual(subject.submission.Status, status) {
		return nil
	}
	failpoint.Here(failpoint.BeforeStatus)
	created := r.pace.created(subject.action, subject.submission) // once it has ended, it leaves the cache, and is not known any more
	updated := subject.submission.DeepCopy()
	updated.Status = status
	span := r.spanOfStatus(subject, &status)
	err := r.Client.Status().Update(ctx, updated)
	endOfWrite(span, err)
	if err != nil {
		return err
	}
	failpoint.Here(failpoint.AfterStatus)
	logStatus(ctx, &status)
	r.tellStatus(subject, subject.submission, created, &status)
	subject.submission = updated
	if status.Phase.Terminal() {
		r.memory.endWritten(subject.action, updated.UID)
		return nil
	}
	r.memory.reopened(subject.action)
	r.memory.wrote(subject.action, updated)
	return nil
}

// rereadSubmission goes on with the submission as a live read finds it, or returns the conflict where the record has moved
// on: a Retry may have opened it again, and it may have succeeded (I5). Whoever moved it projects it. The record is read
// after the submission, so that what is projected of it meanwhile meets the next write.
func (r *Submissions) rereadSubmission(ctx context.Context, subject *subject, conflict error) error {
	live := &v1alpha1.TaskSubmission{}
	if err := r.Live.Get(ctx, subject.action, live); err != nil {
		return err
	}
	if live.UID != subject.submission.UID { // another one of its name
		return apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("tasksubmissions").GroupResource(), live.Name)
	}
	projected := subject.record.Object
	record, err := r.Records.Named(ctx, projected.Namespace, projected.Name)
	if err != nil {
		return err
	}
	if record == nil || record.UID != projected.UID || record.ResourceVersion != projected.ResourceVersion {
		return conflict
	}
	subject.submission = live
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
