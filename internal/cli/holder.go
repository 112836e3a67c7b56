package cli

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// holder is who holds the business key that an action waits for.
type holder struct {
	// submission is its name; empty: not known.
	submission string
	// stuck says that it will not end by itself: its record, or its submission, was deleted.
	stuck bool
}

// addHolder finds the holder of the business key that an action waits for.
func (c *cluster) addHolder(ctx context.Context, s *subject) error {
	action := s.action()
	if s.reason() != v1alpha1.ReasonBusinessKeyHeld || action == nil || action.Claim == "" {
		return nil
	}
	claim, record := &v1alpha1.TaskRecord{}, &v1alpha1.TaskRecord{}
	err := c.api.Get(ctx, types.NamespacedName{Namespace: s.name.Namespace, Name: action.Claim}, claim)
	if err != nil || claim.Spec.Holder == nil {
		return client.IgnoreNotFound(err) // its turn has come
	}
	err = c.api.Get(ctx, types.NamespacedName{Namespace: s.name.Namespace, Name: claim.Spec.Holder.Record}, record)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return err
	case err != nil || record.Spec.Action == nil:
		s.holder.stuck = true
	default:
		held := record.Spec.Action
		s.holder = holder{submission: held.Submission.Name, stuck: !held.Phase.Terminal() && held.ExpiresAt != nil}
	}
	return nil
}
