package controller

import "strings"

// move is one thing that may happen next.
type move func(*world)

// exploration is what came of a scenario.
type exploration struct {
	states int
	broken *world // the first state that is broken; nil: none
}

// explore visits every state of a scenario, breadth first, so that the counterexample is a shortest one. It goes no
// further than most states.
func explore(s *scenario, most int) exploration {
	first := newWorld(s)
	seen, ends := map[fingerprint]struct{}{first.fingerprint(): {}}, endings{}
	for frontier := []*world{first}; len(frontier) > 0; {
		var next []*world
		for i, w := range frontier {
			frontier[i] = nil
			for _, reached := range w.successors() {
				state := reached.fingerprint()
				if _, known := seen[state]; known && reached.broken == "" {
					continue
				}
				reached.checkState()
				if reached.broken == "" {
					reached = ends.check(reached, state)
				}
				if reached.broken != "" {
					return exploration{states: len(seen), broken: reached}
				}
				seen[state] = struct{}{}
				if len(seen) >= most {
					return exploration{states: len(seen)}
				}
				next = append(next, reached)
			}
		}
		frontier = next
	}
	return exploration{states: len(seen)}
}

// successors returns every state that one move leads to.
func (w *world) successors() []*world {
	var all []*world
	add := func(m move) { all = append(all, w.after(m)) }
	for i := range w.processes {
		w.operatorMoves(i, add)
	}
	w.receiverMoves(add)
	w.peopleMoves(add)
	if w.now < w.scenario.until {
		add((*world).pass)
	}
	return all
}

// after returns the state that a move leads to.
func (w *world) after(m move) *world {
	next := w.clone()
	m(next)
	if !next.scenario.stale {
		next.refresh()
	}
	return next
}

func (w *world) refresh() {
	for _, p := range w.processes {
		p.cache = w.cached()
	}
}

// pass lets time pass.
func (w *world) pass() {
	w.now += tick
	w.lapse()
	w.tell("%s", strings.TrimSpace(timePasses))
}
