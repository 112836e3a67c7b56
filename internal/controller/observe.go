package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inflight"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/internal/plan"
)

// subject is one action during one pass: what was observed, kept up to date with what the steps return.
type subject struct {
	action     types.NamespacedName
	submission *v1alpha1.TaskSubmission // nil: gone
	key        string
	input      *plan.Input // nil: gone
	payload    string
	problem    *lifecycle.Problem

	templateName string
	template     lifecycle.Template
	plan         *plan.Plan // nil unless ready
	businessKey  string

	record    lifecycle.Record
	claim     lifecycle.Claim
	decisions []v1alpha1.TaskDecision

	news   bool           // a watch told of what an attempt of it started
	flight flight         // nil: none
	turn   *inflight.Turn // a slot was asked for, and there was none; else nil
}

// observe gathers what is known of an action without reading anything live on the straight path. It returns nil where
// there is nothing to do.
func (r *Submissions) observe(ctx context.Context, action types.NamespacedName) (*subject, error) {
	decisions, err := r.decisionsFor(ctx, action)
	if err != nil {
		return nil, err
	}
	flight := r.flights.Lookup(action)
	submission, err := r.find(ctx, action, len(decisions) > 0)
	news := r.news.has(action)
	if err == nil && submission == nil && (flight != nil || news) {
		// It may be out of the cache because another process wrote a verdict on the input, from an older template.
		submission, err = r.find(ctx, action, true)
	}
	if err != nil {
		return nil, err
	}
	observed := &subject{action: action, submission: submission, decisions: decisions, flight: flight, news: news}
	idle := flight == nil && len(decisions) == 0 && !news // nothing but its own event brought us here
	if flight != nil && (submission == nil || !submission.Status.Phase.Terminal()) {
		// Where a status speaks of an end, another process wrote it: what is remembered is older than that, and would be
		// written over a Success (I5).
		observed.record = r.memory.recall(action)
	}
	switch {
	case idle && submission != nil && r.memory.hasEnded(action, submission.UID):
		return nil, nil // its end was written; the cache has not seen it yet
	case idle && submission == nil && !r.memory.isDueLoops(action):
		r.forget(action)
		return nil, nil
	case submission == nil && observed.record.Object == nil:
		if err := r.findRecord(ctx, observed); err != nil {
			return nil, err
		}
	}
	return observed, r.complete(ctx, observed)
}

// find returns the submission: from the cache, which holds those that have not finished, and where a person has
// decided something, live.
func (r *Submissions) find(ctx context.Context, action types.NamespacedName, live bool) (*v1alpha1.TaskSubmission, error) {
	if len(content.IsPathSegmentName(action.Name)) > 0 {
		return nil, nil // a decision can name anything
	}
	var reader client.Reader = r.Client
	if live {
		reader = r.Live
	}
	submission := &v1alpha1.TaskSubmission{}
	if err := reader.Get(ctx, action, submission); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return r.memory.newer(action, submission), nil
}

// complete adds what follows from submission or record: the key, the template, and what that makes of the parameters. Where
// both are gone, what was stored last while a flight ran says it; where nothing was, there is nothing to go on with.
func (r *Submissions) complete(ctx context.Context, subject *subject) error {
	if subject.submission == nil {
		record := subject.record.Object
		if record == nil {
			record = r.memory.lastStored(subject.action)
		}
		if record == nil {
			return nil
		}
		subject.key, subject.businessKey = record.Spec.Key, record.Spec.Action.BusinessKey
		return r.useTemplate(ctx, subject, record.Spec.Template)
	}
	subject.key = subject.submission.Key()
	subject.input = r.memory.input(subject.action, subject.submission)
	subject.payload, _ = subject.input.PayloadDigest() // an error is found again by the checks
	return r.useTemplate(ctx, subject, subject.submission.Spec.TemplateRef.Name)
}

// followTemplate has the pass go on under the template of the record, where the submission names another one: then the
// key was used again, and what is driven on is the action that it belongs to.
func (r *Submissions) followTemplate(ctx context.Context, subject *subject) error {
	name := subject.templateName
	switch {
	case subject.record.Object != nil:
		name = subject.record.Object.Spec.Template
	case subject.submission != nil:
		name = subject.submission.Spec.TemplateRef.Name
	}
	if name == subject.templateName {
		return nil
	}
	return r.useTemplate(ctx, subject, name)
}

func (r *Submissions) useTemplate(ctx context.Context, subject *subject, name string) error {
	subject.templateName = name
	if err := r.loadTemplate(ctx, subject, r.Client); err != nil {
		return err
	}
	if subject.submission == nil {
		return nil
	}
	subject.businessKey, subject.problem = "", nil
	if name != subject.submission.Spec.TemplateRef.Name {
		return nil
	}
	subject.checkInput()
	if subject.problem == nil {
		return nil
	}
	if _, whatever := subject.input.Check(nil); whatever != nil {
		return nil // no template makes that right
	}
	// A verdict on the input is final, so it is not made from a cache that may hold yesterday's template.
	if err := r.loadTemplate(ctx, subject, r.Live); err != nil {
		return err
	}
	subject.checkInput()
	return nil
}

func (s *subject) checkInput() {
	s.businessKey, s.problem = s.input.Check(s.plan)
}

func (r *Submissions) loadTemplate(ctx context.Context, subject *subject, reader client.Reader) error {
	subject.plan, subject.template = nil, lifecycle.Template{}
	template := &v1alpha1.TaskTemplate{}
	name := types.NamespacedName{Namespace: subject.action.Namespace, Name: subject.templateName}
	err := reader.Get(ctx, name, template)
	if apierrors.IsNotFound(err) {
		r.Plans.Forget(name)
		subject.template = lifecycle.Template{State: lifecycle.TemplateNotFound, Message: fmt.Sprintf("there is no TaskTemplate %q in this namespace", name.Name)}
		return nil
	}
	if err != nil {
		return err
	}
	compiled, faults := r.Plans.For(template)
	if compiled == nil {
		subject.template = lifecycle.Template{State: lifecycle.TemplateNotReady, Message: faults.ToAggregate().Error()}
		return nil
	}
	traits := compiled.Traits
	subject.plan = compiled
	subject.template = lifecycle.Template{
		State: lifecycle.TemplateReady, Spec: &template.Spec, Digest: compiled.Digest, Timeout: traits.Timeout,
		ReplaySafe: traits.ReplaySafe, RemembersFor: traits.RemembersFor, Verifies: traits.Verifies, Forbids: traits.Forbids, Prepares: traits.Prepares, SettleAfter: traits.SettleAfter,
		Detached: traits.Detached, Pause: r.Receivers.pause(name, compiled.Digest),
	}
	return nil
}

// forget drops what is remembered of an action that is not looked at any more.
func (r *Submissions) forget(action types.NamespacedName) {
	r.memory.forget(action)
	r.waiting.remove(action)
	r.flights.GiveUpTurn(action)
	r.pace.begins(action)
	r.doubts.take(action)
}
