package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/failpoint"
	"github.com/taskonce/taskonce/internal/inflight"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/internal/telemetry"
)

// act carries one step out and leaves in the subject what it returned. A conflict is no error: another process, or
// an older copy of ours, was first, so what was thought known is read again. An error ends the pass.
func (r *Submissions) act(ctx context.Context, subject *subject, step lifecycle.Step) error {
	switch step := step.(type) {
	case lifecycle.ReadRecord:
		return r.readRecord(ctx, subject)
	case lifecycle.ReadClaim:
		return r.readClaim(ctx, subject)
	case lifecycle.Begin:
		return r.begin(ctx, subject, step)
	case lifecycle.Store:
		return r.store(ctx, subject, step)
	case lifecycle.CreateClaim:
		return r.createClaim(ctx, subject)
	case lifecycle.TakeClaim:
		return r.takeClaim(ctx, subject)
	case lifecycle.Launch:
		r.launch(subject)
		return nil
	case lifecycle.Check:
		r.check(subject, step)
		return nil
	case lifecycle.Forbid:
		r.forbid(subject)
		return nil
	case lifecycle.Prepare:
		r.prepare(subject)
		return nil
	case lifecycle.Abandon:
		r.removeFlight(subject)
		return nil
	case lifecycle.Judge:
		return r.judge(ctx, subject, step)
	case lifecycle.Adjourn:
		return r.adjourn(ctx, subject, step)
	case lifecycle.Release:
		return r.release(ctx, subject)
	case lifecycle.Remove:
		return r.remove(ctx, subject)
	case lifecycle.Expire:
		return r.expire(ctx, subject)
	default:
		return fmt.Errorf("no way to carry out %T: this is a fault of the operator", step)
	}
}

func (r *Submissions) readRecord(ctx context.Context, subject *subject) error {
	read, err := r.Records.Read(ctx, subject.action.Namespace, subject.key)
	if err != nil {
		return err
	}
	r.clearUp(subject, read)
	subject.record = r.recordRead(subject, read)
	return nil
}

// recordRead is what is known when a record was read; nil: there is none.
func (r *Submissions) recordRead(subject *subject, read *v1alpha1.TaskRecord) lifecycle.Record {
	record := lifecycle.Record{Read: true, Object: read}
	if read == nil && subject.flight != nil {
		if last := r.memory.lastStored(subject.action); last != nil {
			record.Last = last.Spec.Action
		}
	}
	return record
}

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

// begin stores an attempt and, if that was acknowledged, grants its launch. A slot comes first: an attempt that waited
// for one after its begin would eat up its own time.
func (r *Submissions) begin(ctx context.Context, subject *subject, step lifecycle.Begin) error {
	if subject.flight != nil {
		return errors.New("an attempt was to begin while another has a slot: this is a fault of the operator")
	}
	attempt := &step.Action.Attempt
	ready := r.readySince(subject)
	flight, turn := r.flights.Reserve(r.ticket(subject, inflight.Ticket{Attempt: attempt.Number, Begun: attempt.StartedAt.Time, Timeout: attempt.Timeout.Duration}))
	if flight == nil {
		subject.turn = &turn
		return nil
	}
	subject.flight, subject.turn = flight, nil
	if pause := r.Receivers.admit(r.templateOf(subject), subject.template.Digest); pause != nil {
		r.removeFlight(subject)
		subject.template.Pause = pause
		return nil
	}
	failpoint.Here(failpoint.BeforeRecord)
	stored, err := r.write(ctx, subject, lifecycle.Store{Action: step.Action}, false)
	failpoint.Here(failpoint.AfterRecord)
	switch {
	case err == nil:
		subject.flight.Acknowledge()
		r.queued(subject, ready, stored.Spec.Action)
		r.memory.began(subject.action, stored, subject.input, subject.flight.Started())
		subject.keep(stored)
		r.place(subject.action, stored)
		return nil
	case refusedForGood(err):
		r.removeFlight(subject) // it did not land, and the wait before the next try must not hold a slot
		return err
	default:
		return r.lost(subject, err)
	}
}

// store writes an action that launches nothing.
func (r *Submissions) store(ctx context.Context, subject *subject, step lifecycle.Store) error {
	finished := subject.flight != nil && subject.flight.Observe().State == lifecycle.FlightFinished
	stored, err := r.write(ctx, subject, step, finished)
	if subject.record.Object == nil && subject.flight != nil && nowhere(err) {
		r.removeFlight(subject) // it has nothing to wait for, and holds a slot
		return reconcile.TerminalError(fmt.Errorf("what an attempt came to (%s) is forgotten with its namespace or kind: %w", step.Action.Reason, err))
	}
	if err != nil {
		return r.lost(subject, err)
	}
	failpoint.Here(failpoint.AfterConclude)
	r.place(subject.action, stored)
	if finished {
		r.removeFlight(subject)
	}
	if subject.flight != nil {
		r.memory.keep(subject.action, stored)
	}
	if action := stored.Spec.Action; action.Phase.Terminal() && action.Claim != "" {
		r.wakeWaiting(subject.action.Namespace, action.Claim)
	}
	subject.keep(stored)
	return nil
}

// write creates the record or swaps it, and tells of it. The rest of the pass goes on with what the write returned. ran
// says that what is stored is what an effect came to.
func (r *Submissions) write(ctx context.Context, subject *subject, step lifecycle.Store, ran bool) (*v1alpha1.TaskRecord, error) {
	var stored *v1alpha1.TaskRecord
	var err error
	span := r.spanOfRecord(subject, &step.Action)
	before := subject.record.Object
	if before != nil {
		stored, err = r.Records.Update(ctx, before, step.Action, step.RemoveAt)
	} else {
		stored, err = r.Records.Create(ctx, subject.action.Namespace, subject.key, subject.templateName, step.Action, step.RemoveAt)
	}
	endOfWrite(span, err)
	r.tellWrite(subject, &doubt{before: before, wanted: &step.Action, ran: ran}, stored, err)
	r.projectRefusal(ctx, subject, err)
	return stored, err
}

// projectRefusal says in the status that the API server refuses what must be stored. The caller goes on with the error.
func (r *Submissions) projectRefusal(ctx context.Context, subject *subject, err error) {
	if subject.submission == nil || !refusedForGood(err) || apierrors.IsTooManyRequests(err) {
		return
	}
	observation := r.observation(subject)
	observation.Refused = err.Error()
	if err := r.writeStatus(ctx, subject, lifecycle.Project(observation)); err != nil {
		logf.FromContext(ctx).Error(err, "writing that a record was refused; the next pass tries again")
	}
}

func (s *subject) keep(stored *v1alpha1.TaskRecord) {
	s.record = lifecycle.Record{Read: true, Object: stored}
}

// lost handles a write that was not acknowledged: what is stored must be read again. A conflict goes on with that at
// once; any other error ends the pass, and the next one reads.
func (r *Submissions) lost(subject *subject, err error) error {
	subject.record, subject.claim = lifecycle.Record{}, lifecycle.Claim{}
	r.memory.doubt(subject.action)
	if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// refusedForGood reports whether the API server said that it did not, and will not, store an object.
func refusedForGood(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsUnauthorized(err) || apierrors.IsTooManyRequests(err) || tooLarge(err)
}

// nowhere reports whether the API server said that a record cannot be created at all: its namespace is being deleted
// or is gone, or its kind is.
func nowhere(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// tooLarge reports whether etcd or the API server said that an object is too large; etcd's word has no reason.
func tooLarge(err error) bool {
	return apierrors.IsRequestEntityTooLargeError(err) || (err != nil && strings.Contains(err.Error(), "request is too large"))
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
	err := r.Records.Release(ctx, subject.claim.Object)
	if apierrors.IsConflict(err) {
		return r.readClaim(ctx, subject)
	}
	if err != nil {
		return err
	}
	r.tellGone(subject, telemetry.Released, "a person gave its business key free")
	subject.claim = lifecycle.Claim{Read: true}
	r.wakeWaiting(subject.action.Namespace, subject.record.Object.Spec.Action.Claim)
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
	if err := r.Records.Expire(ctx, subject.record.Object); err != nil {
		return err
	}
	r.tellGone(subject, telemetry.Forgotten, "its time to be remembered was over")
	r.forget(subject.action)
	subject.record = lifecycle.Record{Read: true}
	return nil
}

func (r *Submissions) removeFlight(subject *subject) {
	if subject.flight != nil {
		subject.flight.Remove()
		subject.flight = nil
		r.memory.drop(subject.action)
	}
}

func (r *Submissions) wakeWaiting(namespace, claim string) {
	for _, action := range r.waiting.of(types.NamespacedName{Namespace: namespace, Name: claim}) {
		r.queue.wake(action)
	}
}

// stepName is the step's name for a log line.
func stepName(step lifecycle.Step) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", step), "lifecycle.")
}
