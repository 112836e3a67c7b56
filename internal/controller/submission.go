// Package controller carries submissions through their lifecycle: observe, decide, act. All judgement is in package
// lifecycle; here is what reads, writes and waits.
package controller

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/taskonce/taskonce/internal/inflight"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/internal/record"
	"github.com/taskonce/taskonce/internal/telemetry"
	"github.com/taskonce/taskonce/internal/telemetry/tracing"
)

// +kubebuilder:rbac:groups=taskonce.dev,resources=tasksubmissions,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=taskonce.dev,resources=tasksubmissions/status,verbs=update
// +kubebuilder:rbac:groups=taskonce.dev,resources=taskrecords,verbs=get;list;create;update;delete
// +kubebuilder:rbac:groups=taskonce.dev,resources=taskdecisions,verbs=list;watch
// +kubebuilder:rbac:groups=taskonce.dev,resources=taskdecisions/status,verbs=update
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get

// Submissions reconciles submissions, and drives records whose submissions are gone.
type Submissions struct {
	// Client reads submissions, templates and decisions from the cache, and writes.
	Client client.Client
	// Live reads past the cache.
	Live client.Reader
	// Records reads and writes TaskRecords, live.
	Records *record.Store
	// Plans holds compiled templates.
	Plans *Plans
	// Receivers is shared with the templates' reconciler.
	Receivers *Receivers
	// Tracer makes spans; nil: none.
	Tracer *tracing.Tracer
	// Executor identifies this process; random for each start.
	Executor string
	// Scope tells clusters apart that share receivers; usually empty.
	Scope string
	// Clock is the real one but in tests.
	Clock clock.Clock
	// Observer is told of every write, once; nil: nobody is.
	Observer telemetry.Observer
	// Off switches rules off in tests.
	Off lifecycle.Off

	decide            func(lifecycle.Observation) lifecycle.Step
	jitter            func() float64
	flights           flights
	memory            *memory
	waiting           *waiting
	news              news
	queue             wakeQueue
	pace              pace
	doubts            doubts
	withoutSubmission withoutSubmission
}

// Init makes what the reconciler remembers. maxInFlight bounds the attempts that run at once in this process.
func (r *Submissions) Init(maxInFlight int) {
	r.memory = newMemory(r.Clock)
	r.waiting = newWaiting()
	r.decide, r.jitter = lifecycle.Decide, rand.Float64
	r.flights = table{inflight.New(r.Clock, maxInFlight, r.queue.wake)}
}

// maxSteps bounds the steps of one pass. No way through the lifecycle is nearly as long: reaching it is a fault.
const maxSteps = 40

// conflictDelay lets the cache catch up with whoever wrote the object in between.
const conflictDelay = 100 * time.Millisecond

var errTooManySteps = errors.New("the submission went on without end: this is a fault of the operator; it is tried again later")

// Reconcile takes one submission as far as it goes without waiting.
func (r *Submissions) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	version := r.news.version(request.NamespacedName)
	subject, err := r.observe(ctx, request.NamespacedName)
	result := ctrl.Result{}
	if err == nil && subject != nil {
		result, err = r.drive(ctx, subject)
	}
	if err == nil && result.RequeueAfter == 0 { // else what was told is for the next pass, too: it may find no submission
		r.news.done(request.NamespacedName, version)
	}
	return result, err
}

// drive advances until there is something to wait for. A conflict is no error: the next pass meets a newer copy.
func (r *Submissions) drive(ctx context.Context, subject *subject) (ctrl.Result, error) {
	r.clearUp(subject, subject.record.Object)
	for range maxSteps {
		done, result, err := r.advance(ctx, subject)
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: conflictDelay}, nil
		}
		if done || err != nil {
			return result, err
		}
	}
	return ctrl.Result{}, errTooManySteps
}

// advance decides and carries one step out. It is done when there is something to wait for.
func (r *Submissions) advance(ctx context.Context, subject *subject) (done bool, result ctrl.Result, err error) {
	if err := r.followTemplate(ctx, subject); err != nil {
		return false, ctrl.Result{}, err
	}
	observation := r.observation(subject)
	step := r.decide(observation)
	logf.FromContext(ctx).V(1).Info("decided", "step", stepName(step))
	if wait, ok := step.(lifecycle.Wait); ok {
		result, err = r.endPass(ctx, subject, observation, wait)
		return true, result, err
	}
	return false, ctrl.Result{}, terminal(r.act(ctx, subject, step))
}

// endPass ends a pass: it writes the status where that changed, and says when to look again.
func (r *Submissions) endPass(ctx context.Context, subject *subject, observation lifecycle.Observation, wait lifecycle.Wait) (ctrl.Result, error) {
	if subject.flight == nil && subject.turn == nil {
		r.flights.GiveUpTurn(subject.action)
		r.pace.waits(subject, observation.Now, wait.In)
	}
	if subject.submission != nil && !wait.Quiet {
		if err := r.writeStatus(ctx, subject, lifecycle.Project(observation)); err != nil {
			return ctrl.Result{}, err
		}
	}
	if err := r.disposeDetached(ctx, subject); err != nil {
		return ctrl.Result{}, err
	}
	if subject.submission == nil && subject.flight == nil {
		if subject.turn == nil || len(subject.decisions) == 0 { // a decision that waits for a slot keeps its place
			r.handToDueLoop(subject)
		}
		if (!subject.news || !holds(subject)) && len(subject.decisions) == 0 {
			return ctrl.Result{}, nil
		}
	}
	return ctrl.Result{RequeueAfter: wait.In}, nil
}

// observation is what the lifecycle judges by.
func (r *Submissions) observation(subject *subject) lifecycle.Observation {
	observation := lifecycle.Observation{
		Now: r.Clock.Now(), Jitter: r.jitter(), Executor: r.Executor, Off: r.Off,
		Submission: subject.submission, Key: subject.key, PayloadDigest: subject.payload,
		Problem: subject.problem, BusinessKey: subject.businessKey,
		Template: subject.template, Record: subject.record, Claim: subject.claim, Decisions: subject.decisions,
	}
	switch {
	case subject.flight != nil:
		observation.Flight = subject.flight.Observe()
	case subject.turn != nil:
		observation.Flight = lifecycle.Flight{State: lifecycle.FlightFull, FreeAt: subject.turn.FreeAt, Asked: subject.turn.Asked}
	}
	if subject.record.Object != nil {
		observation.Runs = r.runs(subject)
		observation.Sighted = r.memory.sighted(subject.action, subject.record.Object)
	}
	return observation
}

// terminal marks errors that trying again does not cure.
func terminal(err error) error {
	var collision *record.CollisionError
	if errors.As(err, &collision) {
		return reconcile.TerminalError(err)
	}
	return err
}
