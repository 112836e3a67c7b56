package controller

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// remove deletes a submission whose time is over, if it is still that very object, as it was read. Its record stays.
func (r *Submissions) remove(ctx context.Context, subject *subject) error {
	if err := r.deleteAsRead(ctx, subject.submission); err != nil {
		return err
	}
	subject.submission = nil
	return nil
}

func (r *Submissions) deleteAsRead(ctx context.Context, read *v1alpha1.TaskSubmission) error {
	return client.IgnoreNotFound(r.Client.Delete(ctx, read, client.Preconditions{UID: &read.UID, ResourceVersion: &read.ResourceVersion}))
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

// pageSize bounds what one request of a sweep transfers.
const pageSize = 200

// eachWithoutRecord calls visit for every submission of a namespace (empty: of all) that failed and has no record, page by page. The visitor may keep
// the submission.
func (r *Submissions) eachWithoutRecord(ctx context.Context, namespace string, visit func(*v1alpha1.TaskSubmission)) error {
	for next := ""; ; {
		page := &v1alpha1.TaskSubmissionList{} // its own, as in record.Store.EachDue
		err := r.Live.List(ctx, page, client.InNamespace(namespace), client.MatchingFieldsSelector{Selector: withoutRecord}, client.Limit(pageSize), client.Continue(next))
		if err != nil {
			return err
		}
		for i := range page.Items {
			visit(&page.Items[i])
		}
		if next = page.Continue; next == "" || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// removeOverdue deletes a submission that failed and has no record, where its time is over.
func (r *Submissions) removeOverdue(ctx context.Context, submission *v1alpha1.TaskSubmission) error {
	finished, ok := lifecycle.FinishedAt(submission)
	if !ok || submission.DeletionTimestamp != nil {
		return nil
	}
	template := &v1alpha1.TaskTemplate{}
	name := types.NamespacedName{Namespace: submission.Namespace, Name: submission.Spec.TemplateRef.Name}
	spec := &template.Spec
	if err := r.Client.Get(ctx, name, template); apierrors.IsNotFound(err) {
		spec = nil
	} else if err != nil {
		return err
	}
	if r.Clock.Now().Before(finished.Add(lifecycle.TTL(spec, submission.Status.Phase))) {
		return nil
	}
	return r.deleteAsRead(ctx, submission)
}
