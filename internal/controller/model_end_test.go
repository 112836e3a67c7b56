package controller

import (
	"fmt"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// I9 says that nothing is lost silently: what is not settled has somebody who drives it on, or a stated reason for
// waiting. It is checked from every state: if from here on nothing goes wrong, every action comes to its end or to a
// person, and everybody is told.

// endings are the states of which that is known.
type endings map[fingerprint]struct{}

// patience is how long an undisturbed world may take, beyond the time of the scenario.
const patience = 60 * tick

// longest is how many moves it may take.
const longest = 400

// check returns the state, or the broken one that it runs into.
func (e endings) check(w *world, state fingerprint) *world {
	path := map[fingerprint]struct{}{}
	calm := *w
	calm.tell("(from here on nothing goes wrong)")
	for at := &calm; ; {
		if _, known := e[state]; known {
			break
		}
		if _, again := path[state]; again || len(path) > longest {
			return at.lost("it goes round without an end")
		}
		path[state] = struct{}{}
		next := at.undisturbed(state)
		if next == nil {
			if name := at.unended(); name != "" {
				return at.lost(name)
			}
			break
		}
		if next.checkState(); next.broken != "" {
			return next
		}
		at, state = next, next.fingerprint()
	}
	for state := range path {
		e[state] = struct{}{}
	}
	return w
}

func (w *world) lost(what string) *world {
	broken := w.clone()
	broken.violate("I9: nothing goes wrong any more, and yet %s", what)
	return broken
}

// undisturbed returns the state that comes next where nothing goes wrong; nil: nothing is left to happen.
func (w *world) undisturbed(state fingerprint) *world {
	if m := w.pending(); m != nil {
		return w.after(m)
	}
	for i := range w.processes {
		var changed *world
		w.causedMoves(i, func(m move) {
			if changed != nil {
				return
			}
			if next := w.wholePass(i, m); next.fingerprint() != state {
				changed = next
			}
		})
		if changed != nil {
			return changed
		}
	}
	if w.unended() != "" && w.now < w.scenario.until+patience {
		return w.after((*world).pass)
	}
	return nil
}

// causedMoves are the passes that a process has a cause for: what its cache holds, what runs in it, and what is due.
func (w *world) causedMoves(i int, add func(move)) {
	p := w.processes[i]
	for _, name := range w.looksAt(i) {
		if p.cache["submission/"+name.Name] != nil || w.flightOf(i, name) != nil || w.undecided(name.Name) {
			add(func(w *world) { w.beginPass(w.processes[i], name) })
		}
		w.dueMoves(i, name, add)
	}
}

// wholePass begins a pass and takes it to its end.
func (w *world) wholePass(i int, begin move) *world {
	next := w.after(begin)
	for steps := 0; next.processes[i].pass != nil && steps < maxSteps; steps++ {
		next = next.after(func(w *world) { w.stepPass(w.processes[i], noFault) })
	}
	return next
}

// pending is what is under way already.
func (w *world) pending() move {
	for i, p := range w.processes {
		if p.pass != nil {
			return func(w *world) { w.stepPass(w.processes[i], noFault) }
		}
		for _, name := range p.submissions.flights.Actions() {
			if m := w.nextOf(i, name); m != nil {
				return m
			}
			if f := w.flightOf(i, name); f.request > 0 && w.requests[f.request-1].state == requestPending {
				return func(w *world) { w.apply(f.request - 1) }
			}
		}
	}
	if w.scenario.stale {
		var shown move
		for i := range w.processes {
			w.watchMoves(i, func(m move) { shown = m })
		}
		return shown
	}
	return nil
}

// unended names what has not come to its end; nothing: everything has.
func (w *world) unended() string {
	for _, original := range w.scenario.submissions {
		name := original.Name
		s, r := w.submissionOf(name), w.recordOf(name)
		switch {
		case r != nil && w.wasHeard(name) && r.Spec.Action.Phase != v1alpha1.PhaseSuccess:
			return "the outcome of " + name + ", which a process was told of, is not stored"
		case r != nil && !r.Spec.Action.Phase.Terminal() && !w.mayWait(name):
			return "the record of " + name + " stays " + string(r.Spec.Action.Phase) + "/" + string(r.Spec.Action.Reason)
		case s != nil && !s.Status.Phase.Terminal() && !w.mayWait(name):
			return name + " stays " + string(s.Status.Phase) + "/" + string(s.Status.Reason)
		case s != nil && r != nil && !w.agree(s, r):
			return name + " says " + string(s.Status.Phase) + "/" + string(s.Status.Reason) + ", and its record " + string(r.Spec.Action.Phase) + "/" + string(r.Spec.Action.Reason)
		case w.undecided(name):
			return "a decision about " + name + " is not answered"
		}
	}
	for _, p := range w.processes {
		for _, name := range p.submissions.flights.Actions() {
			return fmt.Sprintf("p%d still holds a slot for %s", p.number, name.Name)
		}
	}
	return ""
}

func (w *world) wasHeard(name string) bool {
	for _, p := range w.processes {
		if p.heard[name] {
			return true
		}
	}
	return false
}

// agree reports whether a status says what its record says: I6 and I8, for everyone who asks again.
func (w *world) agree(s *v1alpha1.TaskSubmission, r *v1alpha1.TaskRecord) bool {
	action := r.Spec.Action
	if w.payloadOf(s.Name) != action.PayloadDigest {
		return s.Status.Reason == v1alpha1.ReasonKeyReused
	}
	return !action.Phase.Terminal() || (s.Status.Phase == action.Phase && s.Status.ResultDigest == action.ResultDigest)
}

// mayWait reports whether there is a reason to wait that the status states.
func (w *world) mayWait(name string) bool {
	s, r := w.submissionOf(name), w.recordOf(name)
	switch {
	case r == nil:
		return w.templateOf() == nil || s.DeletionTimestamp != nil || s.Status.Reason == v1alpha1.ReasonAwaitingApproval || w.heldBack(s)
	case w.templateOf() == nil, r.Spec.Action.Reason == v1alpha1.ReasonOutcomeUnknown:
		return true
	case r.Spec.Action.Unsettled || r.Spec.Action.Attempt.Open():
		return false
	case s == nil || s.DeletionTimestamp != nil:
		return true // nothing is in doubt, and nobody asks for it
	case w.scenario.approval && r.Spec.Action.ApprovedDigest != w.digest():
		return true
	case r.Spec.Action.Attempt.Number == 0 && w.suspended(): // a Retry reopened what had never begun
		return true
	default:
		return r.Spec.Action.Reason == v1alpha1.ReasonBusinessKeyHeld && w.holderWaits(name)
	}
}

// holderWaits reports whether the business key of an action is held by one that waits itself, or that was deleted.
func (w *world) holderWaits(name string) bool {
	for _, other := range w.scenario.submissions {
		if r := w.recordOf(other.Name); other.Name != name && (r == nil || (!r.Spec.Action.Phase.Terminal() && w.mayWait(other.Name))) {
			return true
		}
	}
	return false
}

// undecided reports whether a decision was left without an answer. An approval may wait for its time.
func (w *world) undecided(name string) bool {
	for _, object := range w.objects {
		decision, ok := object.object.(*v1alpha1.TaskDecision)
		if ok && decision.Spec.Submission == name && decision.Status.State == v1alpha1.DecisionPending && decision.Spec.Action != v1alpha1.DecisionApprove {
			return true
		}
	}
	return false
}
