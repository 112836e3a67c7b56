package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/internal/telemetry"
)

// DueLoop looks at records that are due: unsettled ones whose submission is gone are driven on, submissions whose time
// is over are removed, then their records, and then what was decided about them. It is one loop for recovery and
// retention, and runs on the leader only.
type DueLoop struct {
	Submissions *Submissions
	// Namespaces are those to look in; none: all.
	Namespaces []string
	// Interval is the time between two sweeps.
	Interval time.Duration
	// PerSecond bounds what a sweep looks at; zero: any number.
	PerSecond int
}

// sweepers is how many records a sweep looks at at once.
const sweepers = 8

// NeedLeaderElection tells the manager to run it on the leader.
func (l *DueLoop) NeedLeaderElection() bool { return true }

// Start sweeps until ctx ends.
func (l *DueLoop) Start(ctx context.Context) error {
	telemetry.SweepsFrom(l.Submissions.Clock.Now())
	for {
		if err := l.Sweep(ctx); err != nil && ctx.Err() == nil {
			logf.FromContext(ctx).Error(err, "sweeping what is due; the next sweep tries again")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-l.Submissions.Clock.After(l.Interval):
		}
	}
}

// Sweep looks at everything that is due now. Decisions come last: they go with records that went before.
func (l *DueLoop) Sweep(ctx context.Context) error {
	s := &sweep{loop: l, limiter: rate.NewLimiter(rate.Limit(l.PerSecond), max(l.PerSecond, 1))}
	s.group.SetLimit(sweepers)
	r := l.Submissions
	began, listed := r.Clock.Now(), map[types.NamespacedName]bool{}
	complete, records := l.everywhere(func(namespace string) error {
		return r.Records.EachDue(ctx, namespace, began, func(due *v1alpha1.TaskRecord) {
			listed[actionOf(due)] = true
			s.look(ctx, func() error { return r.driveDue(ctx, due) })
		})
	})
	overdue, failed := l.everywhere(func(namespace string) error {
		return r.eachWithoutRecord(ctx, namespace, func(submission *v1alpha1.TaskSubmission) {
			s.look(ctx, func() error { return r.removeOverdue(ctx, submission) })
		})
	})
	_ = s.group.Wait() // errors are counted
	judged, decided := l.everywhere(func(namespace string) error {
		return r.eachJudged(ctx, namespace, func(decision *v1alpha1.TaskDecision) {
			s.look(ctx, func() error { return r.expireDecision(ctx, decision) })
		})
	})
	_ = s.group.Wait()
	uncounted := l.countWithoutSubmission(ctx)
	s.tell(complete && overdue && judged)
	if complete {
		r.forgetUnlisted(began, listed)
	}
	return errors.Join(records, failed, decided, uncounted, s.err())
}

// everywhere lists in each namespace that it is to look in, and says whether every list came to its end.
func (l *DueLoop) everywhere(list func(namespace string) error) (complete bool, all error) {
	complete = true
	for _, namespace := range orAll(l.Namespaces) {
		err := list(namespace)
		complete = complete && err == nil
		all = errors.Join(all, unlessOutdated(err))
	}
	return complete, all
}

// unlessOutdated takes the end of a list that took longer than the API server keeps it for no error: the next sweep
// meets the rest.
func unlessOutdated(err error) error {
	if apierrors.IsResourceExpired(err) {
		return nil
	}
	return err
}

// sweep is one look at everything that is due: several at once, and not too many in a second.
type sweep struct {
	loop    *DueLoop
	limiter *rate.Limiter
	group   errgroup.Group
	looks   int

	mu     sync.Mutex
	failed int
	first  error
}

// look carries one look out in its turn. It returns when that has begun.
func (s *sweep) look(ctx context.Context, do func() error) {
	s.looks++
	clock := s.loop.Submissions.Clock
	if s.loop.PerSecond > 0 {
		now := clock.Now()
		if wait := s.limiter.ReserveN(now, 1).DelayFrom(now); wait > 0 {
			select {
			case <-ctx.Done():
			case <-clock.After(wait):
			}
		}
	}
	if ctx.Err() != nil {
		return
	}
	s.group.Go(func() error {
		if err := do(); err != nil && !errors.Is(err, errStillInUse) && !apierrors.IsConflict(err) {
			s.count(err)
		}
		return nil
	})
}

// tell says that the sweep is over. It was complete where every list came to its end.
func (s *sweep) tell(complete bool) {
	telemetry.SweepFailed(s.failed)
	if complete {
		telemetry.Swept(s.loop.Submissions.Clock.Now(), s.looks)
	}
}

func (s *sweep) count(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed++; s.first == nil {
		s.first = err
	}
}

func (s *sweep) err() error {
	if s.failed == 0 {
		return nil
	}
	return fmt.Errorf("%d looks failed; the first: %w", s.failed, s.first)
}

var errStillInUse = errors.New("a submission of that name exists, so the record stays")

// actionOf is the name of the submission that a record guards.
func actionOf(record *v1alpha1.TaskRecord) types.NamespacedName {
	return types.NamespacedName{Namespace: record.Namespace, Name: record.Spec.Action.Submission.Name}
}

// driveDue takes one due record as far as it goes.
func (r *Submissions) driveDue(ctx context.Context, due *v1alpha1.TaskRecord) error {
	subject, err := r.observeDue(ctx, due)
	if err != nil || subject == nil {
		return err
	}
	_, err = r.drive(ctx, subject)
	if subject.flight == nil {
		r.handToDueLoop(subject) // it is not in the cache, so no event will come that has it forgotten
	}
	return err
}

// observeDue gathers what is known of a due record. It returns nil where somebody else drives it: a submission that
// lives, or about which a person has decided, is the reconciler's, which has its own wake-ups; that it lives is read
// live, and not from a cache.
func (r *Submissions) observeDue(ctx context.Context, due *v1alpha1.TaskRecord) (*subject, error) {
	action := actionOf(due)
	if r.flights.Lookup(action) != nil {
		return nil, nil // it runs here; its report wakes the reconciler
	}
	submission, err := r.find(ctx, action, true)
	if err != nil {
		return nil, err
	}
	observed := &subject{action: action, record: lifecycle.Record{Read: true, Object: due}}
	if submission != nil {
		decisions, err := r.decisionsFor(ctx, action)
		if err != nil || len(decisions) > 0 || !submission.Status.Phase.Terminal() {
			return nil, err
		}
		if submission.Key() == due.Spec.Key {
			observed.submission = submission // its end may be another process's verdict, from an older template
		}
	}
	return observed, r.complete(ctx, observed)
}

// handToDueLoop hands an action whose submission is gone to the due loop. Since when a doubtful attempt is where it is stays
// known until that looks: with each look taking it as new, its settling time would never be over.
func (r *Submissions) handToDueLoop(subject *subject) {
	if record := subject.record.Object; record != nil && (record.Spec.Action.Unsettled || record.Spec.Action.Attempt.Open()) {
		if due, ok := lifecycle.DueSeconds(record.Labels); ok {
			r.memory.handToDueLoop(subject.action, due)
			return
		}
	}
	r.forget(subject.action)
}

// forgetUnlisted forgets what was handed to the due loop, is due, and was not listed by a sweep: another process has gone
// on with it, and remembers it now.
func (r *Submissions) forgetUnlisted(began time.Time, listed map[types.NamespacedName]bool) {
	for _, action := range r.memory.dueBy(began) {
		if !listed[action] {
			r.forget(action)
		}
	}
}
