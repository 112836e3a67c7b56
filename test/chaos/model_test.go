package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// events of one key, one second after another unless they say otherwise.
func inTurn(events ...event) []event {
	for i := range events {
		events[i].key = "letter-00001"
		events[i].client = i
		if events[i].back == 0 {
			events[i].call, events[i].back = time.Duration(2*i)*time.Second, time.Duration(2*i+1)*time.Second
		}
	}
	return events
}

func submitted(payload int, done bool) event {
	return event{operation: operation{kind: opSubmit, payload: payload}, observation: observation{certain: true, done: done}}
}

func deleted(done bool) event {
	return event{operation: operation{kind: opDelete}, observation: observation{certain: true, done: done}}
}

func saw(payload string, phase v1alpha1.Phase, reason v1alpha1.Reason, digest string) event {
	return event{operation: operation{kind: opRead}, observation: observation{certain: true, done: true, phase: phase, reason: reason, digest: digest, spec: payload}}
}

// unsent has an event never reach the API server.
func unsent(e event) event {
	e.observation = observation{unsent: true}
	return e
}

// forced has a delete take a finalizer away.
func forced(e event) event {
	e.forced = true
	return e
}

func retried() event {
	return event{operation: operation{kind: opDecide, decision: v1alpha1.DecisionRetry}, observation: observation{certain: true, done: true}}
}

func noAnswer(e event) event {
	e.observation = observation{}
	return e
}

// long has an event last from the beginning to the end of the history.
func long(e event) event {
	e.call, e.back = time.Nanosecond, time.Hour
	return e
}

func TestLinearizable(t *testing.T) {
	success := func(digest string) event { return saw("0", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied, digest) }
	reused := saw("1", v1alpha1.PhaseFailed, v1alpha1.ReasonKeyReused, "")
	pending := saw("0", v1alpha1.PhasePending, v1alpha1.ReasonAccepted, "")
	failed := saw("0", v1alpha1.PhaseFailed, v1alpha1.ReasonRejected, "")
	for _, tt := range []struct {
		reason string
		events []event
		ok     bool
	}{
		{"the first result, again after a deletion", inTurn(submitted(0, true), success("a"), deleted(true), submitted(0, true), pending, success("a")), true},
		{"another payload is refused, and the first result stays", inTurn(submitted(0, true), success("a"), deleted(true), submitted(1, true), reused, deleted(true), submitted(0, true), success("a")), true},
		{"a submit without an answer did happen", inTurn(noAnswer(submitted(0, true)), success("a")), true},
		{"a submit without an answer did not happen", inTurn(noAnswer(submitted(0, true)), submitted(1, true), saw("1", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied, "b")), true},
		{"two at once, one of them first", inTurn(long(submitted(0, false)), long(submitted(0, true)), long(success("a"))), true},
		{"planted: a second result after a deletion", inTurn(submitted(0, true), success("a"), deleted(true), submitted(0, true), success("b")), false},
		{"planted: two results at once", inTurn(long(submitted(0, true)), long(success("a")), long(success("b"))), false},
		{"planted: an end is taken back", inTurn(submitted(0, true), success("a"), pending), false},
		{"planted: Failed after Success", inTurn(submitted(0, true), success("a"), saw("0", v1alpha1.PhaseFailed, v1alpha1.ReasonRejected, "")), false},
		{"planted: two were created", inTurn(submitted(0, true), submitted(0, true)), false},
		{"planted: another's payload", inTurn(submitted(0, true), reused), false},
		{"planted: found though it was deleted", inTurn(submitted(0, true), deleted(true), success("a")), false},
		{"a failed action is tried again", inTurn(submitted(0, true), failed, retried(), pending, success("a")), true},
		{"it is tried again though nobody was told so", inTurn(submitted(0, true), failed, noAnswer(retried()), success("a")), true},
		{"it is tried again and seen in the next submission", inTurn(submitted(0, true), failed, retried(), deleted(true), submitted(0, true), pending, success("a")), true},
		{"two delete by force at once, and both succeed", inTurn(submitted(0, true), long(forced(deleted(true))), long(forced(deleted(true))), submitted(0, true)), true},
		{"what never left the client says nothing", inTurn(submitted(0, true), unsent(deleted(true)), success("a")), true},
		{"planted: two delete at once, and both succeed", inTurn(submitted(0, true), long(deleted(true)), long(deleted(true)), submitted(0, false)), false},
		{"planted: found though it was deleted by force", inTurn(submitted(0, true), forced(deleted(true)), success("a")), false},
		{"planted: Success after Failed, and nobody asked for it", inTurn(submitted(0, true), failed, success("a"), retried()), false},
		{"planted: one Retry, two more ends", inTurn(submitted(0, true), failed, retried(), pending, failed, pending, success("a")), false},
		{"planted: Success is tried again", inTurn(submitted(0, true), success("a"), retried(), pending), false},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			picture := filepath.Join(t.TempDir(), "history.html")
			payloadOf := func(_, digest string) int { return slices.Index([]string{"0", "1"}, digest) }
			wrong := linearizable(operations(tt.events, payloadOf), picture)
			if (len(wrong) == 0) != tt.ok {
				t.Errorf("found %q", wrong)
			}
			if _, err := os.Stat(picture); (err == nil) == tt.ok {
				t.Errorf("the picture: %v", err)
			}
		})
	}
}

func TestALongHistoryIsChecked(t *testing.T) {
	events := []event{submitted(0, true), saw("0", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied, "a")}
	cancel := event{operation: operation{kind: opDecide, decision: v1alpha1.DecisionCancel}}
	for range 60 { // decisions without an answer, and what never left the client
		events = append(events, cancel, unsent(deleted(true)), saw("0", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied, "a"))
	}
	history := operations(inTurn(events...), func(string, string) int { return 0 })
	if wrong := linearizable(history, filepath.Join(t.TempDir(), "history.html")); len(wrong) > 0 {
		t.Error(wrong)
	}
}
