package controller

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// DueLoop looks at records that are due: unsettled ones whose submission is gone are driven on, and those whose time
// is over are removed. It is one loop for recovery and expiry, and runs on the leader only.
type DueLoop struct {
	Submissions *Submissions
	// Interval is the time between two sweeps.
	Interval time.Duration
}

// NeedLeaderElection tells the manager to run it on the leader.
func (l *DueLoop) NeedLeaderElection() bool { return true }

// Start sweeps until ctx ends.
func (l *DueLoop) Start(ctx context.Context) error {
	for {
		if err := l.Sweep(ctx); err != nil && ctx.Err() == nil {
			logf.FromContext(ctx).Error(err, "sweeping due records; the next sweep tries again")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-l.Submissions.Clock.After(l.Interval):
		}
	}
}

// Sweep looks at everything that is due now.
func (l *DueLoop) Sweep(ctx context.Context) error {
	r := l.Submissions
	var all error
	err := r.Records.EachDue(ctx, r.Clock.Now(), func(due *v1alpha1.TaskRecord) {
		if err := r.driveDue(ctx, due); err != nil && !errors.Is(err, errStillInUse) {
			all = errors.Join(all, err)
		}
	})
	return errors.Join(err, all)
}

var errStillInUse = errors.New("a submission of that name exists, so the record stays")

// driveDue takes one due record as far as it goes.
func (r *Submissions) driveDue(ctx context.Context, due *v1alpha1.TaskRecord) error {
	subject, err := r.observeDue(ctx, due)
	if err != nil || subject == nil {
		return err
	}
	_, err = r.drive(ctx, subject)
	if subject.flight == nil {
		r.leave(subject) // it is not in the cache, so no event will come that has it forgotten
	}
	return err
}

// observeDue gathers what is known of a due record. It returns nil where somebody else drives it: a submission that
// lives is the reconciler's, which has its own wake-ups; that it lives is read live, and not from a cache.
func (r *Submissions) observeDue(ctx context.Context, due *v1alpha1.TaskRecord) (*subject, error) {
	action := types.NamespacedName{Namespace: due.Namespace, Name: due.Spec.Action.Submission.Name}
	if r.flights.Lookup(action) != nil {
		return nil, nil // it runs here; its report wakes the reconciler
	}
	submission, err := r.find(ctx, action, true)
	if err != nil {
		return nil, err
	}
	if submission != nil && !submission.Status.Phase.Terminal() {
		return nil, nil
	}
	subject := &subject{action: action, record: lifecycle.Record{Read: true, Object: due}}
	if submission != nil && submission.Key() == due.Spec.Key {
		subject.submission = submission // its end may be another process's verdict, from an older template
	}
	return subject, r.complete(ctx, subject)
}
