package inflight

import (
	"k8s.io/apimachinery/pkg/types"
)

// Usage is how much of a template's limits is in use.
type Usage struct {
	Template types.NamespacedName
	// Used is how many places are taken, Queued how many actions wait for one.
	Used, Queued int
}

// Usage returns what is in use, by template.
func (t *Table) Usage() []Usage {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := map[*bulkhead]int{}
	for _, asked := range t.queueing {
		waiting[asked.bulkhead]++
	}
	all := make([]Usage, 0, len(t.bulkheads))
	for template, b := range t.bulkheads {
		all = append(all, Usage{Template: template, Used: b.used, Queued: waiting[b]})
	}
	return all
}
