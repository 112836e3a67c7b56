package controller

import (
	"context"
	"fmt"
	"strings"

	"github.com/taskonce/taskonce/internal/lifecycle"
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

func (r *Submissions) removeFlight(subject *subject) {
	if subject.flight != nil {
		subject.flight.Remove()
		subject.flight = nil
		r.memory.drop(subject.action)
	}
}

// stepName is the step's name for a log line.
func stepName(step lifecycle.Step) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", step), "lifecycle.")
}
