package controller

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/internal/telemetry"
)

func (r *Submissions) readClaim(ctx context.Context, subject *subject) error {
	// Enlisted before it is read: a holder that ends in between wakes us.
	claim := types.NamespacedName{Namespace: subject.action.Namespace, Name: subject.record.Object.Spec.Action.Claim}
	r.waiting.enlist(claim, subject.action)
	object, holder, err := r.Records.ReadClaim(ctx, subject.record.Object)
	if err != nil {
		return err
	}
	subject.claim = lifecycle.Claim{Read: true, Object: object, Holder: holder}
	if holder == nil || holder.Spec.Action.Phase.Terminal() {
		r.waiting.remove(subject.action)
	}
	return nil
}

func (r *Submissions) createClaim(ctx context.Context, subject *subject) error {
	span := r.spanOfWrite(subject, "write claim", subject.record.Object.Spec.Action)
	claim, err := r.Records.CreateClaim(ctx, subject.record.Object)
	endOfWrite(span, err)
	return r.claimed(ctx, subject, claim, err, apierrors.IsAlreadyExists(err))
}

func (r *Submissions) takeClaim(ctx context.Context, subject *subject) error {
	span := r.spanOfWrite(subject, "write claim", subject.record.Object.Spec.Action)
	claim, err := r.Records.TakeClaim(ctx, subject.claim.Object, subject.record.Object)
	endOfWrite(span, err)
	return r.claimed(ctx, subject, claim, err, apierrors.IsConflict(err) || apierrors.IsNotFound(err))
}

// claimed goes on with the claim that was written. Where somebody else was first, it is read again.
func (r *Submissions) claimed(ctx context.Context, subject *subject, claim *v1alpha1.TaskRecord, err error, late bool) error {
	switch {
	case late:
		return r.readClaim(ctx, subject)
	case err != nil:
		r.projectRefusal(ctx, subject, err)
		return err
	}
	subject.claim = lifecycle.Claim{Read: true, Object: claim}
	return nil
}

func (r *Submissions) release(ctx context.Context, subject *subject) error {
	err := r.tellDeleted(subject, telemetry.Released, "a person gave its business key free", r.Records.Release(ctx, subject.claim.Object))
	if apierrors.IsConflict(err) {
		return r.readClaim(ctx, subject)
	}
	if err != nil {
		return err
	}
	subject.claim = lifecycle.Claim{Read: true}
	r.wakeWaiting(subject.action.Namespace, subject.record.Object.Spec.Action.Claim)
	return nil
}

func (r *Submissions) wakeWaiting(namespace, claim string) {
	for _, action := range r.waiting.of(types.NamespacedName{Namespace: namespace, Name: claim}) {
		r.queue.wake(action)
	}
}
