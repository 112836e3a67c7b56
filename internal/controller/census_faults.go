//go:build faults

package controller

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Census is what a process holds at the moment, by namespace and name of the actions, for tests that look for leaks.
type Census struct {
	// InFlight are the actions that have a place in the in-flight table.
	InFlight []types.NamespacedName
	// Remembered are those of which something is known beyond the cache.
	Remembered []types.NamespacedName
	// Waiting are those that wait for a business key.
	Waiting []types.NamespacedName
}

// Census counts.
func (r *Submissions) Census() Census {
	r.memory.mu.Lock()
	defer r.memory.mu.Unlock()
	r.waiting.mu.Lock()
	defer r.waiting.mu.Unlock()
	r.pace.mu.Lock()
	defer r.pace.mu.Unlock()
	r.doubts.mu.Lock()
	defer r.doubts.mu.Unlock()
	return Census{
		InFlight: r.flights.Actions(),
		Remembered: slices.Concat(slices.Collect(maps.Keys(r.memory.actions)), slices.Collect(maps.Keys(r.pace.arrived)),
			slices.Collect(maps.Keys(r.pace.ready)), slices.Collect(maps.Keys(r.doubts.all))),
		Waiting: slices.Collect(maps.Keys(r.waiting.places)),
	}
}
