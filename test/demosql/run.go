package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Run plays every step and returns how many did not come out as said.
func Run(ctx context.Context, out io.Writer) (red int, err error) {
	fmt.Fprintln(out, "Bringing up etcd, kube-apiserver, PostgreSQL behind a proxy that loses answers, and the operator …")
	w, err := open(ctx)
	defer func() { err = errors.Join(err, w.shut()) }()
	if err != nil {
		return 0, err
	}
	for i, s := range steps {
		wrong, err := s.run(ctx, w, i+1)
		if ctx.Err() != nil {
			return red, errInterrupted
		}
		if err != nil {
			return red, fmt.Errorf("%s: %w\n%s", s.name, err, w.manager.LogTail())
		}
		verdict := "ok"
		if len(wrong) > 0 {
			verdict = fmt.Sprintf("RED: %q", wrong)
			red++
		}
		fmt.Fprintf(out, "%d. %-22s %s\n   %s\n", i+1, s.name, verdict, s.story)
	}
	wrong, err := w.agree(ctx)
	if err != nil {
		return red, err
	}
	if wrong != "" {
		red++
	}
	fmt.Fprintf(out, "The rows of orders, events and ledger: %s\n", orOK(wrong))
	return red, nil
}

func orOK(wrong string) string {
	if wrong == "" {
		return "they agree"
	}
	return wrong
}

// step is one order that is to be closed, and what gets in the way.
type step struct {
	name, story string
	// play submits the order and does its worst.
	play func(ctx context.Context, w *world, order int) error
	// phase and reason are what the submission comes to, and events how often the order was closed.
	phase  v1alpha1.Phase
	reason v1alpha1.Reason
	events int
}

// run plays the step with an order of that number, and returns what is not as said.
func (s step) run(ctx context.Context, w *world, order int) (wrong []string, err error) {
	if err := w.exec(ctx, fmt.Sprintf("INSERT INTO orders VALUES (%d, 'WAIT_PAY')", order)); err != nil {
		return nil, err
	}
	if err := s.play(ctx, w, order); err != nil {
		return nil, err
	}
	submission, err := w.finished(ctx, name(order))
	if err != nil {
		return nil, err
	}
	status := submission.Status
	if status.Phase != s.phase || status.Reason != s.reason {
		wrong = append(wrong, fmt.Sprintf("it is %s/%s (%s), want %s/%s", status.Phase, status.Reason, status.Message, s.phase, s.reason))
	}
	events, err := w.count(ctx, fmt.Sprintf("SELECT count(*) FROM order_events WHERE order_id = %d", order))
	if events != s.events {
		wrong = append(wrong, fmt.Sprintf("the order was closed %d times, want %d", events, s.events))
	}
	return wrong, err
}
