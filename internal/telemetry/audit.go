package telemetry

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/stream"
	"github.com/taskonce/taskonce/internal/telemetry/tracing"
)

// auditSchema marks the lines of this log among others, and says which schema they follow: docs/audit.schema.json.
const auditSchema = "taskonce.dev/audit/v1"

// theOperator is the actor of what no person decided.
const theOperator = "taskonce"

var auditErrors = total("taskonce_audit_errors_total",
	"Lines of the audit log that could not be written, or not within 5 seconds; the log has them. Where the disk is full, or whoever reads the stream is gone or stands still, mend that: the operator goes on without.")

// line is one line of the audit log. docs/audit.schema.json describes it; a field is added there, and none is renamed.
type line struct {
	Schema    string         `json:"schema"`
	Sequence  int64          `json:"sequence"`
	Time      string         `json:"time"`
	Kind      Kind           `json:"kind"`
	Namespace string         `json:"namespace"`
	Name      string         `json:"name"`
	Key       string         `json:"key"`
	Template  string         `json:"template"`
	Attempt   int32          `json:"attempt"`
	From      string         `json:"from"`
	To        string         `json:"to"`
	Outcome   string         `json:"outcome,omitempty"`
	Unsettled bool           `json:"unsettled,omitempty"`
	Replayed  bool           `json:"replayed,omitempty"`
	Reason    string         `json:"reason"`
	Actor     string         `json:"actor"`
	Submitter string         `json:"submitter,omitempty"`
	OnBehalf  string         `json:"onBehalfOf,omitempty"`
	Decision  *decisionEntry `json:"decision,omitempty"`
	Trace     string         `json:"trace,omitempty"`
	Record    string         `json:"record,omitempty"`
	Executor  string         `json:"executor"`
}

type decisionEntry struct {
	Name   string                  `json:"name"`
	Action v1alpha1.DecisionAction `json:"action"`
	State  v1alpha1.DecisionState  `json:"state"`
	By     string                  `json:"by"`
	At     string                  `json:"at"`
	Reason string                  `json:"reason"`
}

// Audit writes a line of JSON for each transition, before the operator goes on: what it has written is not lost with the
// process. A line that cannot be written, or not within the patience of stream.Lines, is counted and logged, and the operator
// goes on.
type Audit struct {
	mu       sync.Mutex
	to       io.Writer
	sequence int64
}

// NewAudit writes to a stream, each line with one call.
func NewAudit(to io.Writer) *Audit {
	return &Audit{to: stream.NewLines(to)}
}

// OpenAudit opens the audit log that a flag names: "-" is standard output, anything else a file that lines are
// appended to.
func OpenAudit(path string) (*Audit, error) {
	if path == "-" {
		return NewAudit(os.Stdout), nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the audit log cannot be opened: %w", err)
	}
	return NewAudit(file), nil
}

// Observe implements Observer.
func (a *Audit) Observe(t *Transition) {
	if !t.isNews() {
		return
	}
	entry := lineOf(t)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sequence++
	entry.Sequence = a.sequence
	text, err := json.Marshal(entry)
	if err == nil {
		_, err = a.to.Write(append(text, '\n'))
	}
	if err != nil {
		auditErrors.Inc()
		logf.Log.Error(err, "a line of the audit log was not written", "line", string(text))
	}
}

// isNews reports whether a transition says something that no other has said. A wait that is prolonged is none, and what
// a status repeats neither.
func (t *Transition) isNews() bool {
	switch t.Kind {
	case Stored:
		return t.Before == nil || differs(t.Before, t.After)
	case Projected:
		return !t.Echo
	case Judged: // what was carried out, its record has told
		return t.DecisionState != v1alpha1.DecisionApplied || t.Decision.Action == v1alpha1.DecisionRelease
	default:
		return true
	}
}

func differs(before, after *v1alpha1.Action) bool {
	return lastReport(before) != lastReport(after) || before.Phase != after.Phase || before.Reason != after.Reason || before.Unsettled != after.Unsettled || before.Checks != after.Checks ||
		before.Attempt.Number != after.Attempt.Number || before.Attempt.Outcome != after.Attempt.Outcome || newDecision(before, after) != nil
}

// lastReport is the last entry of the history. It changes when an attempt is begun, and when a report comes late.
func lastReport(action *v1alpha1.Action) string {
	if n := len(action.History); n > 0 {
		return fmt.Sprint(n, action.History[n-1].Number, action.History[n-1].Outcome, action.History[n-1].Message)
	}
	return ""
}

func lineOf(t *Transition) *line {
	entry := &line{
		Schema: auditSchema, Time: stamp(t.Time), Kind: t.Kind,
		Namespace: t.Namespace, Name: t.Name, Key: t.Key, Template: t.Template,
		From: t.From.String(), To: t.To.String(), Reason: t.Message, Actor: theOperator,
		Replayed: t.Replayed(), Trace: tracing.TraceID(t.Traceparent()), Executor: t.Executor,
	}
	if t.Submission != nil {
		entry.Submitter = t.Submission.Annotations[v1alpha1.AnnotationSubmittedBy]
		entry.OnBehalf = t.Submission.Annotations[v1alpha1.AnnotationOnBehalfOf]
	}
	if t.Record != nil {
		action := t.Record.Spec.Action
		entry.Record, entry.Attempt, entry.Outcome, entry.Unsettled = t.Record.Name, action.Attempt.Number, string(action.Attempt.Outcome), action.Unsettled
		if entry.Submitter == "" {
			entry.Submitter, entry.OnBehalf = action.Submitter, action.OnBehalfOf
		}
	}
	if t.Decision != nil {
		entry.decidedBy(t)
	}
	return entry
}

// decidedBy names the person behind a transition. A decision that was refused changed nothing, and says why.
func (l *line) decidedBy(t *Transition) {
	state := t.DecisionState
	if state == "" {
		state = v1alpha1.DecisionApplied
	}
	d := t.Decision
	l.Decision = &decisionEntry{Name: d.Name, Action: d.Action, State: state, By: orUnknown(d.By), At: stamp(d.At.Time), Reason: d.Reason}
	if state == v1alpha1.DecisionApplied {
		l.Actor, l.Reason = l.Decision.By, d.Reason
	}
}

// orUnknown names who decided while admission did not tell.
func orUnknown(person string) string {
	if person == "" {
		return "unknown"
	}
	return person
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }
