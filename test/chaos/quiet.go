package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// evidence is all that a verdict may rest on.
type evidence struct {
	namespace   string
	keys        []string
	entries     []ledger.Entry // the receiver's log
	submissions map[string]v1alpha1.TaskSubmission
	records     map[string]v1alpha1.TaskRecord // by idempotency key
	claims      []v1alpha1.TaskRecord
	decisions   []v1alpha1.TaskDecision
	leaks       []string
	events      []event // what clients were told
}

// settle asks once more for every key, waits until nothing moves, and gathers the evidence. What still moves after
// the patience is for the verdict to find.
func (w *world) settle(ctx context.Context) (*evidence, error) {
	last := w.asker(w.options.Clients + 1)
	if err := last.askAgain(ctx); err != nil {
		return nil, err
	}
	var e *evidence
	err := until(ctx, "everything to settle", func(ctx context.Context) (bool, error) {
		now, err := w.gather(ctx)
		if err != nil {
			return false, nil //nolint:nilerr // the API server may just be coming back
		}
		e = now
		return !last.insist(ctx, e) && len(e.moving()) == 0, nil
	})
	if e == nil || (err != nil && !wait.Interrupted(err)) {
		return nil, errors.Join(err, errors.New("nothing could be gathered"))
	}
	for _, key := range e.keys {
		last.read(ctx, key)
	}
	e.events = w.history.events
	e.entries, err = w.happened()
	return e, err
}

// askAgain has one submission of every key there, and none that is being deleted.
func (a *asker) askAgain(ctx context.Context) error {
	err := until(ctx, "what is being deleted to go", func(ctx context.Context) (bool, error) { return a.finish(ctx), nil })
	if err != nil {
		return err
	}
	for _, key := range a.w.history.keys() {
		err := until(ctx, "the API server", func(ctx context.Context) (bool, error) { return a.submit(ctx, key, 0), nil })
		if err != nil {
			return err
		}
	}
	return nil
}

// happened returns everything that reached whoever effects are for, and had its effect there, when nothing more can.
// What has its effects elsewhere than at the receiver adds them here, in the same form.
func (w *world) happened() ([]ledger.Entry, error) {
	if err := w.receiver.drain(); err != nil {
		return nil, err
	}
	return ledger.Read(w.receiver.path)
}

// insist asks again for each action that was begun, and whose submission was replaced by one that the key refuses:
// without a submission of its own nothing more of it begins. It reports whether there was one.
func (a *asker) insist(ctx context.Context, e *evidence) bool {
	insisted := false
	for key, r := range e.records {
		if s := e.submissions[key]; r.Spec.Action.Phase.Terminal() || e.asks(&r) || !aboutInput(s.Status.Reason) {
			continue
		}
		payload := payloadOf(key, r.Spec.Action.PayloadDigest)
		if payload < 0 {
			continue // of bad input nothing begins
		}
		a.remove(ctx, key)
		a.submit(ctx, key, payload) // it is looked at again
		insisted = true
	}
	return insisted
}

func (w *world) gather(ctx context.Context) (*evidence, error) {
	var submissions v1alpha1.TaskSubmissionList
	var records v1alpha1.TaskRecordList
	var decisions v1alpha1.TaskDecisionList
	for _, list := range []client.ObjectList{&submissions, &records, &decisions} {
		if err := w.api.List(ctx, list, client.InNamespace(w.namespace)); err != nil {
			return nil, err
		}
	}
	e := &evidence{
		namespace: w.namespace, keys: w.history.keys(), decisions: decisions.Items,
		submissions: map[string]v1alpha1.TaskSubmission{}, records: map[string]v1alpha1.TaskRecord{},
	}
	for _, s := range submissions.Items {
		e.submissions[s.Name] = s
	}
	for _, r := range records.Items {
		if r.Spec.Type == v1alpha1.RecordBusinessKey {
			e.claims = append(e.claims, r)
			continue
		}
		e.records[r.Spec.Key] = r
	}
	return e, nil
}

// moving says of each key that is neither over nor waits for a person what it is doing.
func (e *evidence) moving() []string {
	var list []string
	for _, key := range e.keys {
		s, ok := e.submissions[key]
		r, recorded := e.records[key]
		switch {
		case !ok:
			list = append(list, key+" has no submission")
		case (!recorded || !r.Spec.Action.Unsettled) && !s.Status.Phase.Terminal() && awaitsApproval(key, s.Status.Message):
		case s.Status.Phase.Terminal() && (!recorded || r.Spec.Action.Phase.Terminal()):
		case recorded && e.asks(&r):
			if !s.Status.Phase.Terminal() && s.Status.Reason == v1alpha1.ReasonVerifying {
				list = append(list, e.say(key)) // its status is behind its record
			}
		case recorded && s.Status.Reason == v1alpha1.ReasonBusinessKeyHeld && e.heldByAsker(&r):
		default:
			list = append(list, e.say(key))
		}
	}
	for i := range e.decisions {
		d := &e.decisions[i]
		if d.Status.State == v1alpha1.DecisionPending && (d.Spec.Action != v1alpha1.DecisionApprove || e.submissions[d.Spec.Submission].Status.Phase.Terminal()) {
			list = append(list, fmt.Sprintf("the decision %s %s about attempt %d was not judged; %s", d.Name, d.Spec.Action, d.Spec.Attempt, e.say(d.Spec.Submission)))
		}
	}
	return list
}

// asks reports whether an action waits for a person.
func (e *evidence) asks(r *v1alpha1.TaskRecord) bool {
	return r.Spec.Action.Phase == v1alpha1.PhaseProcessing && r.Spec.Action.Unsettled && r.Spec.Action.Reason == v1alpha1.ReasonOutcomeUnknown
}

// heldByAsker reports whether the business key is held by an action that waits for a person.
func (e *evidence) heldByAsker(r *v1alpha1.TaskRecord) bool {
	for _, claim := range e.claims {
		if claim.Name != r.Spec.Action.Claim {
			continue
		}
		for _, holder := range e.records {
			if holder.Name == claim.Spec.Holder.Record {
				return holder.Name != r.Name && e.asks(&holder)
			}
		}
	}
	return false
}

// say tells where a key stands.
func (e *evidence) say(key string) string {
	var text strings.Builder
	s := e.submissions[key]
	fmt.Fprintf(&text, "%s is %s/%s (%s)", key, s.Status.Phase, s.Status.Reason, s.Status.Message)
	if r, ok := e.records[key]; ok {
		a := r.Spec.Action
		fmt.Fprintf(&text, "; its record: %s/%s, attempt %d %q, unsettled %t", a.Phase, a.Reason, a.Attempt.Number, a.Attempt.Outcome, a.Unsettled)
	} else {
		text.WriteString("; it has no record")
	}
	return text.String()
}
