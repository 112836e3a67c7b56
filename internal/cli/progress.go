package cli

import (
	"fmt"
	"sync"
)

// progress is one line on a terminal, while there is much to wait for. Elsewhere it says nothing.
type progress struct {
	mu     sync.Mutex
	s      *session
	total  int
	done   int
	wrong  int
	shown  bool
	silent bool
}

func newProgress(s *session, total int) *progress {
	return &progress{s: s, total: total, silent: total < 2 || !s.terminal(s.ErrOut)}
}

// hide clears the line, so that something else can be written.
func (p *progress) hide() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.s.ErrOut, "\r\033[K")
		p.shown = false
	}
}

// step counts one more, and shows the line again.
func (p *progress) step(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if err != nil {
		p.wrong++
	}
	if p.silent || p.done == p.total {
		return
	}
	fmt.Fprintf(p.s.ErrOut, "\r\033[K%d of %d done, %d of them not well", p.done, p.total, p.wrong)
	p.shown = true
}
