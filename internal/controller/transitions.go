package controller

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/internal/telemetry"
)

// Functions named tell… report to the observer what was written: each write once, after its acknowledgement, and before
// anything else is done. Metrics, the audit log and events have no other source.

// tell completes a transition and tells it.
func (r *Submissions) tell(subject *subject, t *telemetry.Transition) {
	t.Time, t.Executor = r.Clock.Now(), r.Executor
	t.Namespace, t.Name, t.Key = subject.action.Namespace, subject.action.Name, subject.key
	t.Template, t.TemplateLabel = subject.templateName, labelOf(subject)
	t.Effect = telemetry.EffectOf(subject.template.Spec)
	if t.Submission == nil {
		t.Submission = subject.submission
	}
	if t.Record == nil {
		t.Record = subject.record.Object
	}
	r.Observer.Observe(t)
}

// tellWrite tells of a record that was written. Where the answer was lost, the next read finds out.
func (r *Submissions) tellWrite(subject *subject, doubt *doubt, stored *v1alpha1.TaskRecord, err error) {
	switch {
	case r.Observer == nil:
	case err == nil:
		r.doubts.take(subject.action) // what had been in doubt did not land, or this one would have met it
		r.tellStored(subject, doubt.before, stored, doubt.ran)
	case isLost(err):
		r.doubts.add(subject.action, doubt)
	}
}

// tellStored tells of a record that was written.
func (r *Submissions) tellStored(subject *subject, before, stored *v1alpha1.TaskRecord, ran bool) {
	t := &telemetry.Transition{Kind: telemetry.Stored, Record: stored, After: stored.Spec.Action, Ran: ran, Message: stored.Spec.Action.Message}
	t.To = stateOf(t.After)
	t.From = standing(subject)
	if before != nil {
		t.Before, t.From = before.Spec.Action, stateOf(before.Spec.Action)
	}
	t.Decision = t.NewDecision()
	r.tell(subject, t)
}

// tellStatus tells of a status that was written, where it says something else than before.
func (r *Submissions) tellStatus(subject *subject, before *v1alpha1.TaskSubmission, created time.Time, status *v1alpha1.TaskSubmissionStatus) {
	if r.Observer == nil || (before.Status.Phase == status.Phase && before.Status.Reason == status.Reason) {
		return
	}
	record := subject.record.Object
	ours := record != nil && record.Spec.Key == subject.key && status.Reason != v1alpha1.ReasonKeyReused
	r.tell(subject, &telemetry.Transition{
		Kind: telemetry.Projected, Submission: before, From: standingOf(&before.Status), To: telemetry.State{Phase: status.Phase, Reason: status.Reason},
		Message: status.Message, Echo: ours && record.Spec.Action.Submission.UID == before.UID, Created: created,
	})
}

// tellJudged tells what came of a decision.
func (r *Submissions) tellJudged(subject *subject, step lifecycle.Judge) {
	if r.Observer == nil {
		return
	}
	at := standing(subject)
	r.tell(subject, &telemetry.Transition{
		Kind: telemetry.Judged, From: at, To: at, Decision: step.Named(), DecisionState: step.State, Message: step.Message,
	})
}

// tellDeleted tells that a submission or a record is there no more, or that its business key is free, where err, of the delete,
// says so. Where nothing was there any more somebody else was first, and told of it: that is no error.
func (r *Submissions) tellDeleted(subject *subject, kind telemetry.Kind, why string, err error) error {
	if err == nil {
		r.tellGone(subject, kind, why)
	}
	return client.IgnoreNotFound(err)
}

func (r *Submissions) tellGone(subject *subject, kind telemetry.Kind, why string) {
	if r.Observer == nil {
		return
	}
	at := standing(subject)
	t := &telemetry.Transition{Kind: kind, From: at, To: at, Message: why}
	if kind == telemetry.Released {
		t.Decision = releasing(subject)
	}
	r.tell(subject, t)
}

// releasing returns the pending decision that has a business key given free.
func releasing(subject *subject) *v1alpha1.DecisionRef {
	for i := range subject.decisions {
		if decision := &subject.decisions[i]; decision.Spec.Action == v1alpha1.DecisionRelease {
			return lifecycle.Judge{Decision: decision}.Named()
		}
	}
	return nil
}

// labelOf is the template in metrics: submitters could invent any number of names of templates that do not exist.
func labelOf(subject *subject) string {
	if subject.template.State == lifecycle.TemplateNotFound {
		return telemetry.UnknownTemplate
	}
	return subject.templateName
}

// standing is where a subject stands: its record says it, or else its status.
func standing(subject *subject) telemetry.State {
	switch {
	case subject.record.Object != nil:
		return stateOf(subject.record.Object.Spec.Action)
	case subject.submission != nil:
		return standingOf(&subject.submission.Status)
	default:
		return telemetry.State{}
	}
}

func stateOf(action *v1alpha1.Action) telemetry.State {
	return telemetry.State{Phase: action.Phase, Reason: action.Reason}
}

// standingOf is where a submission stands that has no record.
func standingOf(status *v1alpha1.TaskSubmissionStatus) telemetry.State {
	if status.Reason == "" {
		return telemetry.State{Phase: v1alpha1.PhasePending, Reason: v1alpha1.ReasonAccepted}
	}
	return telemetry.State{Phase: status.Phase, Reason: status.Reason}
}

// doubts are writes of records whose answer was lost. Where the next read shows that one has landed, it is told then.
type doubts struct {
	mu  sync.Mutex
	all map[types.NamespacedName]*doubt
}

type doubt struct {
	before *v1alpha1.TaskRecord
	wanted *v1alpha1.Action
	ran    bool
}

func (d *doubts) add(action types.NamespacedName, doubt *doubt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	set(&d.all, action, doubt)
}

func (d *doubts) take(action types.NamespacedName) *doubt {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := d.all[action]
	delete(d.all, action)
	return found
}

// isLost reports whether a write may have landed although it came back with an error.
func isLost(err error) bool {
	return err != nil && !certainlyNotStored(err) && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) && !nowhere(err)
}

// clearUp tells of a write whose answer was lost, where what was read is what it wrote.
func (r *Submissions) clearUp(subject *subject, read *v1alpha1.TaskRecord) {
	if read == nil {
		return
	}
	if doubt := r.doubts.take(subject.action); doubt != nil && same(doubt.wanted, read.Spec.Action) {
		r.tellStored(subject, doubt.before, read, doubt.ran)
	}
}

// same compares journals but for JSON of others, which the API server writes in its own way. The result's digest is
// compared.
func same(wanted, read *v1alpha1.Action) bool {
	text := func(action v1alpha1.Action) []byte {
		action.Result, action.Parameters = nil, nil
		raw, _ := json.Marshal(&action) // every field of it can be marshalled
		return raw
	}
	return bytes.Equal(text(*wanted), text(*read))
}
