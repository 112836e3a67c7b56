// Package record is the only reader and writer of TaskRecords. Every write is a create or a compare-and-swap on the
// resource version; a nil error is the API server's acknowledgement, and nothing else is.
package record

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// Store reads and writes records. Its client must not read them from a cache.
type Store struct {
	Client client.Client
}

// CollisionError says that the object of a key's name guards another key. It is an error, never somebody else's result.
type CollisionError struct{ Name string }

func (e *CollisionError) Error() string {
	return fmt.Sprintf("the TaskRecord %q guards another key: two keys have one hash; choose another key", e.Name)
}

// Read returns the record of an idempotency key, live; nil where there is none.
func (s *Store) Read(ctx context.Context, namespace, key string) (*v1alpha1.TaskRecord, error) {
	record, err := s.get(ctx, namespace, v1alpha1.RecordName(key))
	if err != nil || record == nil {
		return nil, err
	}
	if record.Spec.Type != v1alpha1.RecordIdempotencyKey || record.Spec.Key != key || record.Spec.Action == nil {
		return nil, &CollisionError{Name: record.Name}
	}
	return record, nil
}

// Named returns the record of that name, live; nil where there is none, or where it is a claim.
func (s *Store) Named(ctx context.Context, namespace, name string) (*v1alpha1.TaskRecord, error) {
	record, err := s.get(ctx, namespace, name)
	if record == nil || record.Spec.Action == nil {
		return nil, err
	}
	return record, nil
}

// ReadClaim returns the claim on a business key and, where another record holds it, that record; each nil where there
// is none. Both are read live.
func (s *Store) ReadClaim(ctx context.Context, owner *v1alpha1.TaskRecord) (claim, holder *v1alpha1.TaskRecord, err error) {
	action := owner.Spec.Action
	claim, err = s.get(ctx, owner.Namespace, action.Claim)
	if err != nil || claim == nil {
		return nil, nil, err
	}
	if claim.Spec.Type != v1alpha1.RecordBusinessKey || claim.Spec.Key != action.BusinessKey || claim.Spec.Template != owner.Spec.Template || claim.Spec.Holder == nil {
		return nil, nil, &CollisionError{Name: claim.Name}
	}
	if claim.Spec.Holder.Record == owner.Name {
		return claim, nil, nil
	}
	holder, err = s.get(ctx, owner.Namespace, claim.Spec.Holder.Record)
	if holder != nil && holder.Spec.Action == nil {
		holder = nil
	}
	return claim, holder, err
}

func (s *Store) get(ctx context.Context, namespace, name string) (*v1alpha1.TaskRecord, error) {
	record := &v1alpha1.TaskRecord{}
	err := s.Client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, record)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return record, nil
}

// Create stores the first journal of a key. AlreadyExists says that there is a record, whosoever. removeAt is when the
// submission is to be removed, or zero.
func (s *Store) Create(ctx context.Context, namespace, key, template string, action v1alpha1.Action, removeAt time.Time) (*v1alpha1.TaskRecord, error) {
	record := &v1alpha1.TaskRecord{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: v1alpha1.RecordName(key),
			Labels: map[string]string{v1alpha1.LabelSubmission: action.Submission.Name},
		},
		Spec: v1alpha1.TaskRecordSpec{Type: v1alpha1.RecordIdempotencyKey, Key: key, Template: template, Action: &action},
	}
	return record, write(record, removeAt, func(record *v1alpha1.TaskRecord) error { return s.Client.Create(ctx, record) })
}

// unmanaged has the API server keep no account of who wrote which field: a record has one writer, and such an account is
// as large as the rest of it.
func unmanaged() []metav1.ManagedFieldsEntry { return []metav1.ManagedFieldsEntry{{}} }

// Update stores the next state of an action, by compare-and-swap on the record that was read. removeAt is when
// the submission is to be removed, or zero.
func (s *Store) Update(ctx context.Context, read *v1alpha1.TaskRecord, action v1alpha1.Action, removeAt time.Time) (*v1alpha1.TaskRecord, error) {
	record := read.DeepCopy()
	record.Spec.Action, record.ManagedFields = &action, unmanaged()
	return record, write(record, removeAt, func(record *v1alpha1.TaskRecord) error { return s.Client.Update(ctx, record) })
}

// write labels the record with when it is due, and stores it. Where the API server does not take the result, the
// phase is stored without it: a result never blocks its phase (I9).
func write(record *v1alpha1.TaskRecord, removeAt time.Time, put func(*v1alpha1.TaskRecord) error) error {
	label(record, removeAt)
	if record.Spec.Action.Result == nil {
		return put(record)
	}
	before := record.DeepCopy()
	err := put(record)
	if !unreadable(err) && !TooLarge(err) {
		return err
	}
	*record = *before
	record.Spec.Action.Result = nil
	return put(record)
}

// unreadable reports whether the API server refused what it was sent: by the rules of its kind, or because it cannot
// decode it.
func unreadable(err error) bool { return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) }

// TooLarge reports whether the API server or etcd does not take an object of this size. Of etcd's answer only the text
// comes through.
func TooLarge(err error) bool {
	return apierrors.IsRequestEntityTooLargeError(err) || (err != nil && strings.Contains(err.Error(), "request is too large"))
}

func label(record *v1alpha1.TaskRecord, removeAt time.Time) {
	if record.Labels == nil {
		record.Labels = map[string]string{}
	}
	if due, ok := lifecycle.DueLabel(record.Spec.Action, removeAt); ok {
		record.Labels[v1alpha1.LabelDue] = due
	} else {
		delete(record.Labels, v1alpha1.LabelDue)
	}
}
