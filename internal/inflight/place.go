package inflight

import (
	"k8s.io/apimachinery/pkg/types"
)

// Hold has an action keep its place in a template's bulkhead when its flight is over, and take one where it has none:
// what it started goes on by itself. A place that is taken so counts even where the bulkhead is full by then.
func (t *Table) Hold(action, template types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held[action] != nil {
		return
	}
	hold := t.bulkheads[template]
	if hold == nil {
		hold = t.bulkhead(Bulkhead{Template: template})
	}
	t.held[action] = hold
	if flight := t.flights[action]; flight == nil || flight.ticket.Bulkhead.Template != template {
		hold.used++
	}
}

// Free gives a place back that was held, and wakes whoever waits for it. A flight of the action keeps its own.
func (t *Table) Free(action types.NamespacedName) { t.wakeUp(t.free(action)) }

func (t *Table) free(action types.NamespacedName) (next *types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	hold := t.held[action]
	if hold == nil {
		return nil
	}
	delete(t.held, action)
	if flight := t.flights[action]; flight != nil && flight.ticket.Bulkhead.Template == hold.template {
		return nil
	}
	hold.used--
	return t.passOn(hold)
}
