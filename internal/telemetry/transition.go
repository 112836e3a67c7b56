package telemetry

import (
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Kind says what was written.
type Kind string

const (
	// Stored: a record, created or swapped. It has Before and After.
	Stored Kind = "Stored"
	// Projected: the status of a submission.
	Projected Kind = "Projected"
	// Judged: the status of a decision.
	Judged Kind = "Judged"
	// Released: a business key was given free.
	Released Kind = "Released"
	// Removed: a submission was removed, since its time was over. Its record still answers.
	Removed Kind = "Removed"
	// Forgotten: a record was removed, since its time was over. Its key is free.
	Forgotten Kind = "Forgotten"
)

// State is where a submission, or its record, stands.
type State struct {
	Phase  v1alpha1.Phase
	Reason v1alpha1.Reason
}

// String is phase and reason, or nothing where there is neither submission nor record.
func (s State) String() string {
	if s == (State{}) {
		return ""
	}
	return string(s.Phase) + "/" + string(s.Reason)
}

// Transition is one write of the operator's that the API server acknowledged. Each is told once, by the process that
// made it, before that goes on. Where the acknowledgement was lost, it is told when the write is found to have landed.
type Transition struct {
	Kind Kind
	Time time.Time
	// Namespace and Name are the submission's, Key its idempotency key.
	Namespace, Name, Key string
	// Template is the template's name, TemplateLabel the same or UnknownTemplate, Effect its kind of effect: http, sql, job.
	Template, TemplateLabel, Effect string
	// Submission is nil where it is gone, Record where there is none.
	Submission *v1alpha1.TaskSubmission
	Record     *v1alpha1.TaskRecord

	From, To State
	Message  string
	// Before (nil: none) and After are the journal of the record, where that was written.
	Before, After *v1alpha1.Action
	// Ran says that the attempt's outcome is what its effect came to; otherwise it was never sent, or is taken for lost.
	Ran bool
	// Echo says of a status that it repeats what its record was told to say before.
	Echo bool
	// Created is when the submission was created, as exactly as this process knows.
	Created time.Time
	// Decision is the person's decision that caused it, or that was judged, DecisionState what came of that.
	Decision      *v1alpha1.DecisionRef
	DecisionState v1alpha1.DecisionState
	// Executor is the process that tells.
	Executor string
}

// Observer is told of transitions. It must not wait for anything but the disk.
type Observer interface {
	Observe(transition *Transition)
}

// Observers tells each of several.
type Observers []Observer

// Observe implements Observer.
func (all Observers) Observe(transition *Transition) {
	for _, observer := range all {
		observer.Observe(transition)
	}
}

// Replayed reports whether an earlier submission's outcome answered for this one.
func (t *Transition) Replayed() bool {
	return t.Record != nil && t.Submission != nil && t.Record.Spec.Key == t.Key &&
		t.Record.Spec.Action.Submission.UID != t.Submission.UID && t.To.Reason != v1alpha1.ReasonKeyReused
}

// Traceparent is the trace context of the client that submitted the action.
func (t *Transition) Traceparent() string {
	switch {
	case t.After != nil:
		return t.After.Traceparent
	case t.Submission != nil:
		return t.Submission.Annotations[v1alpha1.AnnotationTraceparent]
	case t.Record != nil && t.Record.Spec.Action != nil:
		return t.Record.Spec.Action.Traceparent
	}
	return ""
}

// NewDecision returns the person's decision that a write of a record has carried out, or nil.
func (t *Transition) NewDecision() *v1alpha1.DecisionRef { return newDecision(t.Before, t.After) }

func newDecision(before, after *v1alpha1.Action) *v1alpha1.DecisionRef {
	if before == nil {
		before = &v1alpha1.Action{}
	}
	if isNew(before.Decision, after.Decision) {
		return after.Decision
	}
	if isNew(before.Approval, after.Approval) {
		return after.Approval
	}
	return nil
}

func isNew(before, after *v1alpha1.DecisionRef) bool {
	return after != nil && (before == nil || before.UID != after.UID)
}

// EffectOf names the kind of a template's effect; nil: it is not known.
func EffectOf(spec *v1alpha1.TaskTemplateSpec) string {
	switch {
	case spec == nil:
		return "unknown"
	case spec.Effect.HTTP != nil:
		return "http"
	case spec.Effect.SQL != nil:
		return "sql"
	case spec.Effect.Job != nil:
		return "job"
	default:
		return "unknown"
	}
}
