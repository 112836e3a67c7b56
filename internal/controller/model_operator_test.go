package controller

import (
	"context"
	"errors"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// operatorMoves are what a process may do: begin a pass, take one step of it with or without a fault, send, learn an
// answer, hear from its watches, and die.
func (w *world) operatorMoves(i int, add func(move)) {
	p := w.processes[i]
	if p.pass == nil {
		w.beginMoves(i, add)
	} else {
		add(func(w *world) { w.stepPass(w.processes[i], noFault) })
		if w.budget.LoseAnswer > 0 {
			add(func(w *world) { w.budget.LoseAnswer--; w.stepPass(w.processes[i], answerLost) })
		}
		if w.budget.LoseWrite > 0 {
			add(func(w *world) { w.budget.LoseWrite--; w.stepPass(w.processes[i], writeLost) })
		}
	}
	for _, name := range p.submissions.flights.Actions() {
		w.flightMoves(i, name, add)
	}
	if w.scenario.stale {
		w.watchMoves(i, add)
	}
	if w.budget.Kill > 0 {
		add(func(w *world) { w.kill(w.processes[i]) })
	}
}

// beginMoves are the passes that a process may begin: the reconciler's, at any moment, and the due loop's.
func (w *world) beginMoves(i int, add func(move)) {
	for _, name := range w.looksAt(i) {
		add(func(w *world) { w.beginPass(w.processes[i], name) })
		w.dueMoves(i, name, add)
	}
}

func (w *world) dueMoves(i int, name types.NamespacedName, add func(move)) {
	if w.isDue(name.Name) {
		add(func(w *world) { w.beginDuePass(w.processes[i], name) })
	}
}

// watchMoves are what a process may be told by its watches.
func (w *world) watchMoves(i int, add func(move)) {
	current := w.cached()
	for _, key := range sorted(current) {
		if w.processes[i].cache[key] != current[key] {
			add(func(w *world) { w.processes[i].cache[key] = w.objects[key]; w.tell("p%d sees the new %s", i, key) })
		}
	}
	for _, key := range sorted(w.processes[i].cache) {
		if current[key] == nil {
			add(func(w *world) {
				delete(w.processes[i].cache, key)
				w.tell("p%d sees that %s has finished or is gone", i, key)
			})
		}
	}
}

func (w *world) beginPass(p *process, name types.NamespacedName) {
	w.tell("p%d looks at %s", p.number, name.Name)
	if pass, err := p.submissions.observe(context.Background(), name); err == nil {
		p.pass = pass
	}
	w.goOn(p)
}

// goOn takes the steps that nobody else can see, at once: interleaving them with anything gives no other state.
func (w *world) goOn(p *process) {
	for p.pass != nil {
		observation := p.submissions.observation(p.pass)
		switch step := p.submissions.decide(observation).(type) {
		case lifecycle.Launch, lifecycle.Check, lifecycle.Abandon:
		case lifecycle.ReadRecord, lifecycle.ReadClaim:
			if w.scenario.stale {
				return
			}
		case lifecycle.Wait:
			if s := p.pass.submission; s != nil && !step.Quiet && differs(s.Status, lifecycle.Project(observation)) {
				return // a write
			}
			p.pass = nil
			return
		default:
			return
		}
		_ = w.advance(p) // it calls nobody
	}
}

// differs compares two statuses but for what is only said: each of two processes knows best what it runs itself, and
// would say so in turn for ever.
func differs(a, b v1alpha1.TaskSubmissionStatus) bool {
	return a.Phase != b.Phase || a.Reason != b.Reason || a.Attempts != b.Attempts || a.ResultDigest != b.ResultDigest ||
		a.DuplicateOf != b.DuplicateOf || a.Replayed != b.Replayed || a.RecordName != b.RecordName
}

// advance takes one step of the pass, and ends it where it is done or failed.
func (w *world) advance(p *process) error {
	done, _, err := p.submissions.advance(context.Background(), p.pass)
	if done || err != nil {
		p.pass = nil
	}
	return err
}

// isDue reports whether the due loop would meet the record, which selects by label. A tick is long against the second
// that the label is rounded by.
func (w *world) isDue(name string) bool {
	r := w.recordOf(name)
	if r == nil {
		return false
	}
	due, err := strconv.ParseInt(r.Labels[v1alpha1.LabelDue], 10, 64)
	return err == nil && due <= modelClock{world: w}.Now().Unix()+1
}

func (w *world) beginDuePass(p *process, name types.NamespacedName) {
	w.tell("p%d sweeps the record of %s", p.number, name.Name)
	if pass, err := p.submissions.observeDue(context.Background(), w.recordOf(name.Name)); err == nil {
		p.pass = pass
	}
	w.goOn(p)
}

func (w *world) stepPass(p *process, fault apiFault) {
	p.fault = fault
	name := p.pass.action.Name
	step := p.submissions.decide(p.submissions.observation(p.pass))
	w.checkStep(p, step)
	err := w.advance(p)
	unused := p.fault != noFault // no write was made: the same as without the fault
	p.fault, p.refused = noFault, false
	switch {
	case errors.Is(err, errLost):
		w.tell("p%d: %s of %s, and hears nothing of it", p.number, stepName(step), name)
	case err != nil:
		w.tell("p%d: %s of %s: %v", p.number, stepName(step), name, err)
	case unused:
		w.tell("p%d: %s of %s (nothing to lose)", p.number, stepName(step), name)
	default:
		w.tell("p%d: %s of %s", p.number, stepName(step), name)
	}
	w.goOn(p)
}

func (w *world) kill(p *process) {
	w.budget.Kill--
	w.tell("p%d is killed and starts again", p.number)
	p.start++
	p.pass = nil
	p.submissions = w.operator(p, nil)
	p.cache, p.heard = w.cached(), map[string]bool{}
}
