package controller

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/failpoint"
	"github.com/taskonce/taskonce/internal/inflight"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

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
	case certainlyNotStored(err):
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
