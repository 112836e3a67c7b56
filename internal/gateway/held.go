package gateway

import "sync"

// held is what callers hold at a time, by caller and in all: connections, or bytes.
type held struct {
	mu  sync.Mutex
	by  map[string]int64
	all int64
}

// enter counts more, unless the caller, or all together, hold as much as they may. Most 0: any number.
func (h *held) enter(caller string, more, most, mostInAll int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if most > 0 && h.by[caller]+more > most || mostInAll > 0 && h.all+more > mostInAll {
		return false
	}
	if h.by == nil {
		h.by = map[string]int64{}
	}
	h.by[caller] += more
	h.all += more
	return true
}

func (h *held) leave(caller string, less int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all -= less
	if h.by[caller] -= less; h.by[caller] == 0 {
		delete(h.by, caller)
	}
}
