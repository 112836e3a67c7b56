package controller

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/taskonce/taskonce/internal/lifecycle"
)

const (
	// drainInterval is the time between two looks at what still runs while stopping.
	drainInterval = 50 * time.Millisecond
	// storeMargin is how long outcomes may take to be stored after the grace period of the attempts.
	storeMargin = 5 * time.Second
)

// drainer stores what runs before the process ends. The manager stops it together with the reconcilers, and waits for
// it before it stops the cache and lets its lease go.
type drainer struct {
	submissions *Submissions
	grace       time.Duration
}

var _ manager.LeaderElectionRunnable = &drainer{}

func (d *drainer) NeedLeaderElection() bool { return true }

func (d *drainer) Start(ctx context.Context) error {
	<-ctx.Done()
	d.submissions.Drain(context.WithoutCancel(ctx), d.grace)
	return nil
}

// Drain lets no attempt start any more, gives those that run the grace period, and stores what they came to. What is
// left then is an orphan for whoever comes next.
func (r *Submissions) Drain(ctx context.Context, grace time.Duration) {
	r.flights.Close()
	ctx, cancel := context.WithTimeout(ctx, grace+storeMargin)
	defer cancel()
	over := r.Clock.After(grace)
	for past := false; ; {
		running, unstored := r.drainOnce(ctx)
		if unstored == 0 && (running == 0 || past) || ctx.Err() != nil {
			r.reportLeft(ctx, running, unstored)
			return
		}
		select {
		case <-over:
			past = true
		case <-ctx.Done():
		case <-r.Clock.After(drainInterval):
		}
	}
}

// drainOnce stores what has a report, or was begun and not launched, and counts what is left.
func (r *Submissions) drainOnce(ctx context.Context) (running, unstored int) {
	for _, action := range r.flights.Actions() {
		flight := r.flights.Lookup(action)
		if flight == nil {
			continue
		}
		if flight.Observe().State == lifecycle.FlightRunning {
			running++
			continue
		}
		if _, err := r.Reconcile(ctx, ctrl.Request{NamespacedName: action}); err != nil {
			logf.FromContext(ctx).Error(err, "storing an outcome while stopping; it is tried again", "submission", action)
		}
		if r.flights.Lookup(action) != nil {
			unstored++
		}
	}
	return running, unstored
}

func (r *Submissions) reportLeft(ctx context.Context, running, unstored int) {
	if running+unstored > 0 {
		logf.FromContext(ctx).Info("stopped before everything was stored; whoever comes next finds out what became of it", "running", running, "notStored", unstored)
	}
}
