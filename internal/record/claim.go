package record

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// CreateClaim takes a business key that nobody holds. AlreadyExists says that somebody does.
func (s *Store) CreateClaim(ctx context.Context, owner *v1alpha1.TaskRecord) (*v1alpha1.TaskRecord, error) {
	claim := &v1alpha1.TaskRecord{
		ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: owner.Spec.Action.Claim},
		Spec: v1alpha1.TaskRecordSpec{
			Type: v1alpha1.RecordBusinessKey, Key: owner.Spec.Action.BusinessKey, Template: owner.Spec.Template, Holder: holderOf(owner),
		},
	}
	return claim, s.Client.Create(ctx, claim)
}

// TakeClaim makes a claim the owner's, by compare-and-swap on the claim that was read.
func (s *Store) TakeClaim(ctx context.Context, read, owner *v1alpha1.TaskRecord) (*v1alpha1.TaskRecord, error) {
	claim := read.DeepCopy()
	claim.Spec.Holder, claim.ManagedFields = holderOf(owner), unmanaged()
	return claim, s.Client.Update(ctx, claim)
}

// Release deletes a claim that was read, if it is still that very object in that very state. NotFound says that somebody else
// was first.
func (s *Store) Release(ctx context.Context, claim *v1alpha1.TaskRecord) error {
	return s.Client.Delete(ctx, claim, asRead(claim))
}

// Expire deletes a record's claim, where the record holds it, and then the record, each as it was read. NotFound says that
// somebody else was first.
func (s *Store) Expire(ctx context.Context, record *v1alpha1.TaskRecord) error {
	if record.Spec.Action.Claim != "" {
		claim, _, err := s.ReadClaim(ctx, record)
		if err != nil {
			return err
		}
		if claim != nil && claim.Spec.Holder.Record == record.Name {
			if err := s.Release(ctx, claim); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return s.Client.Delete(ctx, record, asRead(record))
}

func holderOf(owner *v1alpha1.TaskRecord) *v1alpha1.Holder {
	return &v1alpha1.Holder{Record: owner.Name, UID: owner.UID, Retries: owner.Spec.Action.Retries}
}

func asRead(record *v1alpha1.TaskRecord) client.Preconditions {
	return client.Preconditions{UID: &record.UID, ResourceVersion: &record.ResourceVersion}
}
