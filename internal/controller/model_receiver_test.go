package controller

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// request is one that was sent. It may be applied at any time until it lapses. All that a receiver knows is in the
// requests that were sent to its address.
type request struct {
	key      string
	address  string
	attempt  int32
	executor string
	record   types.UID
	state    requestState
	lapses   time.Duration // 0: never
	at       time.Duration // when it was applied, where that matters
	// forgotten: the record of its action was removed when its time was over. The same key is another action now.
	forgotten bool
}

type requestState int

const (
	requestPending requestState = iota
	requestApplied
	requestKnown // the key had been applied before
	requestRefused
	requestLapsed
)

// receiverMoves are what the receiver may do with what was sent to it.
func (w *world) receiverMoves(add func(move)) {
	for index, q := range w.requests {
		if q.state != requestPending {
			continue
		}
		add(func(w *world) { w.apply(index) })
		if w.budget.Refuse > 0 {
			add(func(w *world) {
				w.budget.Refuse--
				w.requests[index].state = requestRefused
				w.tell("the receiver refuses attempt %d of %s", q.attempt, q.key)
			})
		}
	}
}

// apply applies one request. An idempotent receiver applies a key once, for as long as it remembers it.
func (w *world) apply(index int) {
	q := &w.requests[index]
	if w.scenario.receiver.idempotent && w.knows(q) {
		q.state = requestKnown
		w.tell("the receiver knows %s, and does not apply attempt %d", q.key, q.attempt)
		return
	}
	q.state = requestApplied
	if w.scenario.remembers > 0 {
		q.at = w.now
	}
	w.tell("the receiver applies attempt %d of %s", q.attempt, q.key)
	if n := w.effects(q.key); n > 1 {
		w.violate("I4: the effect of %s was applied %d times", q.key, n)
	}
	if n := w.businessEffects(); w.scenario.businessKey && n > 1 {
		w.violate("I7: the effect for the business key was applied %d times", n)
	}
}

// forbid has the receiver refuse what is under way, and says what it has. Both are one transaction.
func (w *world) forbid(i int, name types.NamespacedName) {
	f := w.flightOf(i, name)
	outcome := w.verified(name.Name, f.address)
	for index := range w.requests {
		q := &w.requests[index]
		if outcome.Kind == v1alpha1.OutcomeNotApplied && q.key == name.Name && q.address == f.address && q.state == requestPending && q.attempt <= f.ticket.Attempt {
			q.state = requestLapsed
		}
	}
	w.tell("the receiver is to refuse attempt %d of %s and those before it", f.ticket.Attempt, name.Name)
	w.hear(i, name, outcome)
}

func (w *world) knows(q *request) bool {
	for _, earlier := range w.requests {
		remembered := w.scenario.remembers == 0 || w.now < earlier.at+w.scenario.remembers
		if earlier.state == requestApplied && earlier.key == q.key && earlier.address == q.address && remembered {
			return true
		}
	}
	return false
}

// effects counts the effects of an action.
func (w *world) effects(key string) (n int) {
	for _, q := range w.requests {
		if q.key == key && q.state == requestApplied && !q.forgotten {
			n++
		}
	}
	return n
}

// businessEffects counts the effects for the business key that people have not given free again.
func (w *world) businessEffects() (n int) {
	for _, submission := range w.scenario.submissions {
		if !w.released[submission.Name] {
			n += w.effects(submission.Name)
		}
	}
	return n
}

// mayHappen reports whether a request of the action may still be applied.
func (w *world) mayHappen(key string) bool {
	for _, q := range w.requests {
		if q.key == key && q.state == requestPending && !q.forgotten {
			return true
		}
	}
	return false
}

// forget makes the requests of an action those of an earlier one: its record is no more.
func (w *world) forget(key string) {
	for i := range w.requests {
		if w.requests[i].key == key {
			w.requests[i].forgotten = true
		}
	}
}

// lapse ends requests that the receiver applies no more, as the template's author has said.
func (w *world) lapse() {
	for i := range w.requests {
		q := &w.requests[i]
		if q.state == requestPending && q.lapses > 0 && w.now >= q.lapses {
			q.state = requestLapsed
		}
	}
}

// lapses says until when a request may be applied: the settling time after its deadline, where the template states one;
// by its deadline, where the receiver forgets keys, for nobody can be asked then; and otherwise at any time.
func (s *scenario) lapses(deadline time.Duration) time.Duration {
	switch {
	case s.receiver.verifies:
		return deadline + tick
	case s.remembers > 0:
		return deadline
	default:
		return 0
	}
}

// verified is what the receiver at an address says of a key, now.
func (w *world) verified(key, address string) effect.Outcome {
	for _, q := range w.requests {
		if q.key == key && q.address == address && q.state == requestApplied {
			return applied(&q)
		}
	}
	return effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Message: "it is not there"}
}

// answered is what the receiver says to a request that it has seen.
func (w *world) answered(q *request) effect.Outcome {
	switch q.state {
	case requestRefused:
		return effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Permanent: w.scenario.refuses == forGood, Message: "refused"}
	case requestKnown:
		return w.verified(q.key, q.address)
	default:
		return applied(q)
	}
}

func applied(q *request) effect.Outcome {
	result := fmt.Appendf(nil, `"attempt %d of %s"`, q.attempt, q.key)
	digest, _ := v1alpha1.Digest(result)
	return effect.Outcome{Kind: v1alpha1.OutcomeApplied, Result: result, ResultDigest: digest}
}
