package page

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
)

// Row is what is kept of a submission, or of the record of one that is gone.
type Row struct {
	types.NamespacedName
	// Key is empty where it is the name.
	Key      string
	Template string
	Phase    v1alpha1.Phase
	Reason   v1alpha1.Reason
	Attempts int32
	// Replayed says that its outcome is an earlier one's.
	Replayed bool
	// Created, Begun and Ended are zero where they are not known; Stalled is from when on it waits for a person, should it.
	Created, Begun, Ended, Stalled time.Time
}

func rowOf(s *v1alpha1.TaskSubmission) Row {
	row := Row{
		NamespacedName: types.NamespacedName{Namespace: s.Namespace, Name: s.Name}, Template: s.Spec.TemplateRef.Name,
		Phase: s.Status.Phase, Reason: s.Status.Reason, Attempts: s.Status.Attempts, Replayed: s.Status.Replayed,
		Created: s.CreationTimestamp.Time, Begun: timeOf(s.Status.StartedAt), Ended: timeOf(s.Status.CompletedAt), Stalled: inbox.StalledSince(s),
	}
	if s.Spec.IdempotencyKey != s.Name {
		row.Key = s.Spec.IdempotencyKey
	}
	if row.Phase == "" {
		row.Phase = v1alpha1.PhasePending
	}
	if row.Reason == "" { // nobody has looked at it yet
		row.Reason = v1alpha1.ReasonAccepted
	}
	return row
}

// abandonedRow is what is kept of a record, should its submission be gone.
func abandonedRow(record *v1alpha1.TaskRecord) Row {
	action := record.Spec.Action
	row := Row{
		NamespacedName: types.NamespacedName{Namespace: record.Namespace, Name: action.Submission.Name}, Template: record.Spec.Template,
		Phase: action.Phase, Reason: action.Reason, Attempts: action.Attempt.Number,
		Created: record.CreationTimestamp.Time, Begun: timeOf(action.StartedAt), Stalled: inbox.AbandonedSince(record),
	}
	if record.Spec.Key != row.Name {
		row.Key = record.Spec.Key
	}
	return row
}

func timeOf(at *metav1.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.Time
}
