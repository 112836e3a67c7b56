package controller_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/telemetry"
)

// account is what an operator told of what it wrote, beside the records that the API server stored.
type account struct {
	mu     sync.Mutex
	told   []*telemetry.Transition
	lines  bytes.Buffer // the audit log
	audit  *telemetry.Audit
	stored []string // name and resource version
	killed bool     // a process that did not hear of a write may have been killed before it could tell
}

// Observe implements telemetry.Observer.
func (a *account) Observe(t *telemetry.Transition) {
	a.mu.Lock()
	defer a.mu.Unlock()
	copied := *t
	if t.Submission != nil {
		copied.Submission = t.Submission.DeepCopy()
	}
	a.told = append(a.told, &copied)
	if a.audit == nil {
		a.audit = telemetry.NewAudit(&a.lines)
	}
	a.audit.Observe(t)
}

func (a *account) landed(record *v1alpha1.TaskRecord) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stored = append(a.stored, versioned(record))
}

func versioned(record *v1alpha1.TaskRecord) string {
	return fmt.Sprintf("%s %s: %s/%s", record.Name, record.ResourceVersion, record.Spec.Action.Phase, record.Spec.Action.Reason)
}

func (a *account) forgive() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.killed = true
}

// faults returns which writes of records were told twice, or untold, or told and not made.
func (a *account) faults() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var told, wrong []string
	for _, t := range a.told {
		if t.Kind == telemetry.Stored {
			told = append(told, versioned(t.Record))
		}
	}
	for i, one := range told {
		switch {
		case slices.Contains(told[:i], one):
			wrong = append(wrong, "told twice: "+one)
		case !slices.Contains(a.stored, one):
			wrong = append(wrong, "told and not stored: "+one)
		}
	}
	for _, one := range a.stored {
		if !slices.Contains(told, one) && !a.killed {
			wrong = append(wrong, "stored and not told: "+one)
		}
	}
	return wrong
}

// auditLine is what a reader of the audit log takes from a line.
type auditLine struct {
	Sequence                                     int
	Time                                         time.Time
	Kind, Namespace, Name, Key, Template, Record string
	Attempt                                      int
	From, To, Outcome, Reason, Actor, Submitter  string
	Unsettled, Replayed                          bool
	Trace                                        string
	Decision                                     *struct{ Name, Action, State, By, At, Reason string }
}

// auditSchema is docs/audit.schema.json, compiled once.
var auditSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	return compiler.Compile("../../docs/audit.schema.json")
})

// audited returns the lines of the audit log. Each must follow the schema, and none may be missing.
func (a *account) audited() ([]auditLine, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	compiled, err := auditSchema()
	if err != nil {
		return nil, err
	}
	var all []auditLine
	for text := range bytes.Lines(a.lines.Bytes()) {
		var line auditLine
		if err := json.Unmarshal(text, &line); err != nil {
			return nil, err
		}
		free, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = compiled.Validate(free)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, text)
		}
		all = append(all, line)
		if line.Sequence != len(all) {
			return nil, fmt.Errorf("line %d has the number %d", len(all), line.Sequence)
		}
	}
	return all, nil
}

// auditFaults returns where a record's lines do not follow from one another.
func (a *account) auditFaults() (wrong []string) {
	if _, err := a.audited(); err != nil {
		return []string{err.Error()}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	stands := map[types.UID]telemetry.State{}
	for _, t := range a.told {
		if t.Kind != telemetry.Stored {
			continue
		}
		if at, known := stands[t.Record.UID]; known && at != t.From {
			wrong = append(wrong, fmt.Sprintf("%s stood at %s, and goes from %s to %s", t.Record.Name, at, t.From, t.To))
		}
		stands[t.Record.UID] = t.To
	}
	return wrong
}
