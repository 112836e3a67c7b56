package controller

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// waiting knows which actions wait for which business key, so that the holder's end wakes them.
type waiting struct {
	mu     sync.Mutex
	claims map[types.NamespacedName]map[types.NamespacedName]struct{} // claim → actions
	places map[types.NamespacedName]types.NamespacedName              // action → claim
}

func newWaiting() *waiting {
	return &waiting{
		claims: map[types.NamespacedName]map[types.NamespacedName]struct{}{},
		places: map[types.NamespacedName]types.NamespacedName{},
	}
}

func (w *waiting) enlist(claim, action types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(action)
	if w.claims[claim] == nil {
		w.claims[claim] = map[types.NamespacedName]struct{}{}
	}
	w.claims[claim][action] = struct{}{}
	w.places[action] = claim
}

func (w *waiting) remove(action types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(action)
}

func (w *waiting) drop(action types.NamespacedName) {
	claim, ok := w.places[action]
	if !ok {
		return
	}
	delete(w.places, action)
	delete(w.claims[claim], action)
	if len(w.claims[claim]) == 0 {
		delete(w.claims, claim)
	}
}

// of returns the actions that wait for a claim.
func (w *waiting) of(claim types.NamespacedName) []types.NamespacedName {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.claims[claim]))
}
