package controller

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/failpoint"
	"github.com/taskonce/taskonce/internal/inflight"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// launch runs the effect of the attempt that was granted, outside the reconcile workers.
func (r *Submissions) launch(subject *subject) {
	attempt := r.attempt(subject)
	attempt.Deadline = subject.flight.Deadline()
	execute := r.traced("execute effect", subject.plan.Effect.Execute)
	run := r.measured(subject, func(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
		return guarded(ctx, attempt, execute)
	})
	digest := subject.template.Digest
	template := r.templateOf(subject)
	subject.flight.Launch(func(ctx context.Context) lifecycle.Report {
		outcome, err := run(ctx, attempt)
		r.hear(template, digest, &outcome)
		failpoint.Here(failpoint.AfterAnswer)
		return reportOf(outcome, err)
	})
}

// hear tells who knows the receivers what an attempt came to. Where credentials are accepted again, all that waited for
// that goes on.
func (r *Submissions) hear(template types.NamespacedName, digest string, outcome *effect.Outcome) {
	if !r.Receivers.hear(template, digest, outcome) {
		return
	}
	named := &v1alpha1.TaskTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: template.Namespace, Name: template.Name}}
	for _, waiting := range r.ofTemplate(context.Background(), named) {
		r.queue.wake(waiting.NamespacedName)
	}
}

// check asks about the current attempt, in a slot of the same bulkhead.
func (r *Submissions) check(subject *subject, step lifecycle.Check) {
	timeout := subject.plan.Traits.VerifyTimeout
	if timeout <= 0 {
		timeout = subject.plan.Traits.Timeout
	}
	number := subject.record.Object.Spec.Action.Attempt.Number
	flight, turn := r.flights.Reserve(r.ticket(subject, inflight.Ticket{Kind: step.Kind, Attempt: number, Timeout: timeout}))
	if flight == nil {
		subject.turn = &turn
		return
	}
	subject.flight, subject.turn = flight, nil
	r.memory.keep(subject.action, subject.record.Object)
	attempt := r.attempt(subject)
	attempt.Deadline = flight.Deadline()
	flight.Acknowledge() // a question needs no record: it causes nothing
	name, question := questionOf(step.Kind)
	ask := r.traced(name, question(subject.plan.Effect))
	report := checkReport
	if step.Kind == lifecycle.Preparation {
		report = reportOf
	}
	flight.Launch(func(ctx context.Context) lifecycle.Report { return report(guarded(ctx, attempt, ask)) })
}

// questionOf returns what a check asks an effect, and its name in a trace.
func questionOf(kind lifecycle.FlightKind) (name string, question func(effect.Effect) call) {
	switch kind {
	case lifecycle.Poll:
		return "poll effect", poll
	case lifecycle.Prohibition:
		return "forbid effect", forbid
	case lifecycle.Preparation:
		return "prepare effect", prepare
	default:
		return "verify effect", verify
	}
}

func (r *Submissions) ticket(subject *subject, ticket inflight.Ticket) inflight.Ticket {
	ticket.Action = subject.action
	ticket.Bulkhead = inflight.Bulkhead{Template: r.templateOf(subject), MaxInFlight: 1}
	if spec := subject.template.Spec; spec != nil {
		ticket.Bulkhead.MaxInFlight = int(spec.Limits.MaxInFlight)
		if spec.Limits.PerSecond != nil {
			ticket.Bulkhead.PerSecond = int(*spec.Limits.PerSecond)
		}
	}
	return ticket
}

func (r *Submissions) templateOf(subject *subject) types.NamespacedName {
	return types.NamespacedName{Namespace: subject.action.Namespace, Name: subject.templateName}
}

// attempt is what the effect is told. Everything comes from the record: it outlives the submission.
func (r *Submissions) attempt(subject *subject) effect.Attempt {
	action := subject.record.Object.Spec.Action
	attempt := effect.Attempt{
		Namespace: subject.action.Namespace, Name: subject.action.Name, Key: subject.record.Object.Spec.Key,
		DownstreamKey: r.downstreamKey(subject.action), BusinessKey: action.BusinessKey,
		Template: subject.record.Object.Spec.Template, Scope: r.Scope, PayloadDigest: action.PayloadDigest,
		Number: action.Attempt.Number, Traceparent: action.Traceparent, Location: action.Attempt.Location,
		Record: subject.record.Object.UID, Job: action.Attempt.Job,
		Parameters: []byte("{}"),
	}
	if action.Parameters != nil {
		attempt.Parameters = action.Parameters.Raw
	}
	return attempt
}

// downstreamKey is what receivers dedup by. It has no UID: it survives the submission's re-creation.
func (r *Submissions) downstreamKey(action types.NamespacedName) string {
	key := action.Namespace + "/" + action.Name
	if r.Scope != "" {
		key = r.Scope + "/" + key
	}
	return key
}

type call func(context.Context, effect.Attempt) (effect.Outcome, error)

// guarded turns a panic of an effect into the only honest outcome. Every attempt has an end.
func guarded(ctx context.Context, attempt effect.Attempt, run call) (outcome effect.Outcome, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			outcome, err = effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: fmt.Sprintf("the operator failed while it carried the effect out: %v", fault)}, nil
		}
	}()
	return run(ctx, attempt)
}

func verify(e effect.Effect) call {
	if verifier, ok := e.(effect.Verifier); ok {
		return verifier.Verify
	}
	return cannotTell
}

func poll(e effect.Effect) call {
	if poller, ok := e.(effect.Poller); ok {
		return poller.Poll
	}
	return cannotTell
}

func forbid(e effect.Effect) call {
	if forbidder, ok := e.(effect.Forbidder); ok {
		return forbidder.Forbid
	}
	return cannotTell
}

// prepare has a look end as an attempt would that could not be made for want of something, or with nothing to say.
func prepare(e effect.Effect) call {
	return func(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
		preparer, ok := e.(effect.Preparer)
		var missing *effect.DependencyError
		if ok && errors.As(preparer.Prepare(ctx, attempt), &missing) {
			return effect.Outcome{}, missing
		}
		return effect.Outcome{Kind: v1alpha1.OutcomeUnknown}, nil
	}
}

func cannotTell(context.Context, effect.Attempt) (effect.Outcome, error) {
	return effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: "the effect has no way to ask"}, nil
}

// reportOf turns what an attempt returned into a report. An error means that nothing was sent.
func reportOf(outcome effect.Outcome, err error) lifecycle.Report {
	if err == nil {
		return lifecycle.Report{
			Outcome: outcome.Kind, Permanent: outcome.Permanent, Message: outcome.Message, Result: outcome.Result,
			ResultDigest: outcome.ResultDigest, RetryAfter: outcome.RetryAfter, Location: outcome.Location,
			Unauthorized: outcome.Credentials == effect.CredentialsRefused,
			Final:        outcome.Final || outcome.Finished, Finished: outcome.Finished,
		}
	}
	var missing *effect.DependencyError
	return lifecycle.Report{Outcome: v1alpha1.OutcomeNotApplied, Missing: errors.As(err, &missing), Message: err.Error()}
}

// checkReport turns what a check returned into a report. An error means that it cannot be told now.
func checkReport(outcome effect.Outcome, err error) lifecycle.Report {
	if err != nil {
		return lifecycle.Report{Outcome: v1alpha1.OutcomeUnknown, Message: "it could not be found out: " + err.Error()}
	}
	return reportOf(outcome, nil)
}
