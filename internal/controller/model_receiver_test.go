package controller

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// receiver is what the effects are applied at. It counts them by key and by business key.
type receiver struct {
	requests []request
	effects  map[string]int
}

// request is one that was sent. It may be applied at any time until it lapses.
type request struct {
	key      string
	attempt  int32
	executor string
	state    requestState
	lapses   time.Duration
}

type requestState int

const (
	requestPending requestState = iota
	requestApplied
	requestRefused
	requestLapsed
)

func (r receiver) clone() receiver {
	return receiver{requests: slices.Clone(r.requests), effects: maps.Clone(r.effects)}
}

func (r receiver) text() string { return fmt.Sprint(r.requests, r.effects) }

// apply applies one request. An idempotent receiver applies a key once, however often it is sent.
func (w *world) apply(index int) {
	q := &w.receiver.requests[index]
	q.state = requestApplied
	if w.scenario.idempotent && w.receiver.effects[q.key] > 0 {
		return
	}
	w.receiver.effects[q.key]++
	if w.receiver.effects[q.key] > 1 {
		w.violate("I4: the effect of %s was applied %d times", q.key, w.receiver.effects[q.key])
	}
	if b := w.scenario.businessKey; b {
		total := 0
		for _, n := range w.receiver.effects {
			total += n
		}
		if total > 1 {
			w.violate("I7: the effect for the business key was applied %d times", total)
		}
	}
}

// mayHappen reports whether a request of the key may still be applied.
func (w *world) mayHappen(key string) bool {
	for _, q := range w.receiver.requests {
		if q.key == key && q.state == requestPending {
			return true
		}
	}
	return false
}

// lapse ends requests whose settling time is over: the template's author said that the receiver does not apply them
// any more. Without a verification nothing is said, and they stay.
func (w *world) lapse() {
	for i := range w.receiver.requests {
		q := &w.receiver.requests[i]
		if q.state == requestPending && w.scenario.verifies && w.now >= q.lapses {
			q.state = requestLapsed
		}
	}
}
