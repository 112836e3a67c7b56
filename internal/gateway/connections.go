package gateway

import "sync"

// connections are those that are open, by caller.
type connections struct {
	mu   sync.Mutex
	held map[string]int
}

// enter counts one more, unless the caller holds as many as it may.
func (c *connections) enter(caller string, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[caller] >= most {
		return false
	}
	if c.held == nil {
		c.held = map[string]int{}
	}
	c.held[caller]++
	return true
}

func (c *connections) leave(caller string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[caller]--; c.held[caller] == 0 {
		delete(c.held, caller)
	}
}
