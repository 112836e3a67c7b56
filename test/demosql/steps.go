package main

import (
	"context"
	"fmt"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/dbserver"
)

var steps = []step{
	{
		name: "straight", story: "Nothing gets in the way. Deleted and applied again, the record answers.",
		play:  replayed,
		phase: v1alpha1.PhaseSuccess, reason: v1alpha1.ReasonApplied, events: 1,
	},
	{
		name: "paid in the meantime", story: "expectRows finds no row that waits for payment: everything is rolled back.",
		play: func(ctx context.Context, w *world, order int) error {
			if err := w.exec(ctx, fmt.Sprintf("UPDATE orders SET status = 'PAID' WHERE id = %d", order)); err != nil {
				return err
			}
			return w.submit(ctx, name(order), order)
		},
		phase: v1alpha1.PhaseFailed, reason: v1alpha1.ReasonRejected,
	},
	{
		name: "lost answer", story: "COMMIT happens, and its answer is lost. The ledger's row tells.",
		play:  losing(dbserver.LoseAnswer, nil),
		phase: v1alpha1.PhaseSuccess, reason: v1alpha1.ReasonVerifiedApplied, events: 1,
	},
	{
		name: "lost COMMIT", story: "COMMIT never arrives. Nobody holds the row, so it is tried again.",
		play:  losing(dbserver.LoseCommit, nil),
		phase: v1alpha1.PhaseSuccess, reason: v1alpha1.ReasonApplied, events: 1,
	},
	{
		name: "killed before COMMIT", story: "The operator is killed with COMMIT on its lips. The next one waits, asks, and tries again.",
		play:  losing(dbserver.HangAtCommit, (*world).restartManager),
		phase: v1alpha1.PhaseSuccess, reason: v1alpha1.ReasonApplied, events: 1,
	},
	{
		name: "killed after COMMIT", story: "The operator is killed when the change is made and nothing of it is stored. The next one asks the ledger.",
		play:  losing(dbserver.LoseAnswer, (*world).restartManager),
		phase: v1alpha1.PhaseSuccess, reason: v1alpha1.ReasonVerifiedApplied, events: 1,
	},
	{
		name: "database killed", story: "PostgreSQL is killed before it has seen COMMIT, and started again.",
		play:  losing(dbserver.HangAtCommit, (*world).restartDatabase),
		phase: v1alpha1.PhaseSuccess, reason: v1alpha1.ReasonApplied, events: 1,
	},
	{
		name: "two devices", story: "Two keys, one order: the second gets the first one's result.",
		play: func(ctx context.Context, w *world, order int) error {
			if err := w.submit(ctx, "first", order); err != nil {
				return err
			}
			if _, err := w.finished(ctx, "first"); err != nil {
				return err
			}
			return w.submit(ctx, name(order), order)
		},
		phase: v1alpha1.PhaseSuccess, reason: v1alpha1.ReasonAlreadyApplied, events: 1,
	},
}

// replayed has the submission applied twice.
func replayed(ctx context.Context, w *world, order int) error {
	if err := w.submit(ctx, name(order), order); err != nil {
		return err
	}
	submission, err := w.finished(ctx, name(order))
	if err != nil {
		return err
	}
	if err := w.api.Delete(ctx, submission); err != nil {
		return err
	}
	return w.submit(ctx, name(order), order)
}

// losing submits an order, has the proxy do something to its COMMIT, and then lets disturb go on.
func losing(loss dbserver.Loss, disturb func(*world, context.Context) error) func(context.Context, *world, int) error {
	return func(ctx context.Context, w *world, order int) error {
		w.proxy.Lose(loss)
		if err := w.submit(ctx, name(order), order); err != nil {
			return err
		}
		if err := w.proxy.AwaitCommit(ctx); err != nil {
			return err
		}
		if disturb != nil {
			if err := disturb(w, ctx); err != nil {
				return err
			}
		}
		w.proxy.Lose(dbserver.LoseNothing)
		return nil
	}
}
