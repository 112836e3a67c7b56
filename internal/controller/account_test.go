package controller_test

import (
	"fmt"
	"slices"
	"sync"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/telemetry"
)

// account is what an operator told of what it wrote, beside the records that the API server stored.
type account struct {
	mu     sync.Mutex
	told   []*telemetry.Transition
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

// of returns what was told of a submission, as kind and where it came to.
func (a *account) of(name string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []string
	for _, t := range a.told {
		if t.Name == name {
			all = append(all, fmt.Sprintf("%s %s", t.Kind, t.To))
		}
	}
	return all
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
