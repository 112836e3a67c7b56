package controller

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/internal/telemetry"
)

// +kubebuilder:rbac:groups=taskonce.dev,resources=tasksubmissions,verbs=patch

// remove deletes a submission whose time is over, if it is still that very object, as it was read. Its record stays.
func (r *Submissions) remove(ctx context.Context, subject *subject) error {
	if err := r.tellDeleted(subject, telemetry.Removed, "its time to live was over", r.deleteAsRead(ctx, subject.submission)); err != nil {
		return err
	}
	subject.submission = nil
	return nil
}

// expire deletes what is over, unless a submission of that name exists: the key is still in use then.
func (r *Submissions) expire(ctx context.Context, subject *subject) error {
	exists, err := r.find(ctx, subject.action, true)
	if err != nil {
		return err
	}
	if exists != nil {
		return errStillInUse
	}
	if err := r.tellDeleted(subject, telemetry.Forgotten, "its time to be remembered was over", r.Records.Expire(ctx, subject.record.Object)); err != nil {
		return err
	}
	r.forget(subject.action)
	subject.record = lifecycle.Record{Read: true}
	return nil
}

// withoutRecord selects submissions that failed and have no record that would be due: a verdict on the input alone.
// Selectors know no "or", so it names what has one.
var withoutRecord = fields.AndSelectors(
	fields.OneTermEqualSelector("status.phase", string(v1alpha1.PhaseFailed)),
	reasonIsNot(v1alpha1.ReasonBusinessKeyConflict), reasonIsNot(v1alpha1.ReasonRejected), reasonIsNot(v1alpha1.ReasonRetriesExhausted),
	reasonIsNot(v1alpha1.ReasonTooLate), reasonIsNot(v1alpha1.ReasonCancelled), reasonIsNot(v1alpha1.ReasonConfirmedNotApplied),
)

func reasonIsNot(reason v1alpha1.Reason) fields.Selector {
	return fields.OneTermNotEqualSelector("status.reason", string(reason))
}

// eachWithoutRecord calls visit for every submission of a namespace (empty: of all) that failed and has no record, and is
// due, or does not say yet when it is.
func (r *Submissions) eachWithoutRecord(ctx context.Context, namespace string, visit func(*v1alpha1.TaskSubmission)) error {
	page := func() client.ObjectList { return &v1alpha1.TaskSubmissionList{} }
	return r.eachDue(ctx, namespace, page, withoutRecord, func(object client.Object) { visit(object.(*v1alpha1.TaskSubmission)) })
}

// removeOverdue deletes a submission that failed and has no record, where its time is over, and otherwise labels it with
// when that is.
func (r *Submissions) removeOverdue(ctx context.Context, submission *v1alpha1.TaskSubmission) error {
	template := &v1alpha1.TaskTemplate{}
	name := types.NamespacedName{Namespace: submission.Namespace, Name: submission.Spec.TemplateRef.Name}
	spec := &template.Spec
	if err := r.Client.Get(ctx, name, template); apierrors.IsNotFound(err) {
		spec = nil
	} else if err != nil {
		return err
	}
	at, over := lifecycle.RemoveUnrecorded(r.Clock.Now(), submission, spec)
	if !over {
		return r.postpone(ctx, submission, map[string]string{v1alpha1.LabelDue: lifecycle.LabelAt(at)})
	}
	overdue := &subject{action: client.ObjectKeyFromObject(submission), submission: submission, key: submission.Key(), templateName: name.Name}
	if overdue.template.Spec = spec; spec == nil {
		overdue.template.State = lifecycle.TemplateNotFound
	}
	return r.remove(ctx, overdue)
}
