package inflight

import (
	"k8s.io/apimachinery/pkg/types"
)

// Keep has an action keep its place in a template's bulkhead after its flight has ended, until Free: what it started, a Job,
// goes on by itself. An action without a place takes one, also where the bulkhead is full.
func (t *Table) Keep(action, template types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept[action] != nil {
		return
	}
	b := t.bulkheads[template]
	if b == nil {
		b = t.bulkhead(Bulkhead{Template: template})
	}
	t.kept[action] = b
	if flight := t.flights[action]; flight == nil || flight.ticket.Bulkhead.Template != template {
		b.used++
	}
}

// Free gives a place back that was held, and wakes whoever waits for it. A flight of the action keeps its own.
func (t *Table) Free(action types.NamespacedName) { t.wakeUp(t.free(action)) }

func (t *Table) free(action types.NamespacedName) (next *types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.kept[action]
	if b == nil {
		return nil
	}
	delete(t.kept, action)
	if flight := t.flights[action]; flight != nil && flight.ticket.Bulkhead.Template == b.template {
		return nil
	}
	b.used--
	return t.passOn(b)
}
