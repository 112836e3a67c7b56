package controller

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/internal/lifecycle"
)

// FlightState is what the in-flight table knows of an action.
func (r *Submissions) FlightState(action types.NamespacedName) lifecycle.FlightState {
	if flight := r.flights.Lookup(action); flight != nil {
		return flight.Observe().State
	}
	return lifecycle.FlightNone
}

// Remembered is of how many actions this process remembers anything.
func (r *Submissions) Remembered() int {
	r.memory.mu.Lock()
	defer r.memory.mu.Unlock()
	r.pace.mu.Lock()
	defer r.pace.mu.Unlock()
	r.doubts.mu.Lock()
	defer r.doubts.mu.Unlock()
	return len(r.memory.actions) + len(r.pace.arrived) + len(r.pace.ready) + len(r.doubts.all)
}

// InFlight is how many attempts and checks have a slot.
func (r *Submissions) InFlight() int { return len(r.flights.Actions()) }
