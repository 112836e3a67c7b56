package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
)

// tally counts what happened in a run, by name.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (t *tally) add(name string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	t.counts[name] += n
}

func (t *tally) print(out io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(t.counts)) {
		fmt.Fprintf(out, "  %-48s %6d\n", name, t.counts[name])
	}
}
