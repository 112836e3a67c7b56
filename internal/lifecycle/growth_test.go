package lifecycle

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// TestTenThousandAttemptsStory: however often an action is tried, opened again and told of too late, its record and its
// status are no larger than they were within the first hundred attempts, but for the digits of numbers.
func TestTenThousandAttemptsStory(t *testing.T) {
	const attempts, digits = 10_000, 100
	w := newWorld(t)
	wordy := busy
	wordy.Message = strings.Repeat("the receiver is busy; ", 1000)
	a := w.process("A", "k", always(wordy))
	early, largest := 0, 0
	for a.status.Attempts < attempts {
		wait := a.run()
		if number := a.status.Attempts; number%7 == 0 { // what an earlier attempt came to is told too late
			a.flight = Flight{State: FlightFinished, Attempt: number - 1, Report: wordy}
			wait = a.run()
		}
		w.now = w.now.Add(wait)
		action := w.records["k"].Spec.Action
		if len(action.History) > maxHistory {
			t.Fatalf("there are %d attempts in the history, which the API server refuses", len(action.History))
		}
		if action.Phase.Terminal() { // retry.maxAttempts is used up
			a.decisions = seen(decided(v1alpha1.DecisionRetry, action.Attempt.Number, naming("k-uid"), func(d *v1alpha1.TaskDecision) {
				d.UID = types.UID("decision-" + strconv.Itoa(int(action.Attempt.Number)))
				d.Spec.Reason, d.CreationTimestamp.Time = wordy.Message, w.now
			})).Decisions
		}
		record, _ := json.Marshal(w.records["k"])
		status, _ := json.Marshal(a.status)
		if largest = max(largest, len(record)+len(status)); a.status.Attempts == 100 {
			early = largest
		}
	}
	if action := w.records["k"].Spec.Action; len(action.History) != maxHistory || action.Retries < attempts/4 {
		t.Errorf("there are %d attempts in the history after %d Retry decisions", len(action.History), action.Retries)
	}
	if largest > early+digits || largest > 16<<10 {
		t.Errorf("record and status grow to %d bytes; within the first 100 attempts they were %d", largest, early)
	}
}
