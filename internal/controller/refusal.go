package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/internal/record"
)

// projectRefusal says in the status that the API server refuses what must be stored. The caller goes on with the error.
func (r *Submissions) projectRefusal(ctx context.Context, subject *subject, err error) {
	if subject.submission == nil || !needsAPerson(err) {
		return
	}
	observation := r.observation(subject)
	observation.Refused = err.Error()
	if err := r.writeStatus(ctx, subject, lifecycle.Project(observation)); err != nil {
		logf.FromContext(ctx).Error(err, "writing that a record was refused; the next pass tries again")
	}
}

// certainlyNotStored reports whether the API server said that it did not store an object.
func certainlyNotStored(err error) bool { return needsAPerson(err) || apierrors.IsTooManyRequests(err) }

// needsAPerson reports whether it will not store the object before somebody has changed something.
func needsAPerson(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsUnauthorized(err) || record.TooLarge(err)
}

// nowhere reports whether the API server said that a record cannot be created at all: its namespace is being deleted
// or is gone, or its kind is.
func nowhere(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
