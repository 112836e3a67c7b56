package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// fault is what may be wrong with a network.
type fault string

const (
	// lostAnswer has every request carried out, and drops its answer.
	lostAnswer fault = "lost-answer"
	// slow has what is sent carried out at once, and holds its answer back.
	slow fault = "slow"
	// offline lets nothing through, and cuts what is open.
	offline fault = "offline"
	// loggedOut takes the token away, as where a session has ended.
	loggedOut fault = "logged-out"
)

var faults = []fault{lostAnswer, slow, offline, loggedOut}

var errLost = errors.New("the answer is lost")

// network is between one person's pages and the gateway. Its faults are switched while it is in use.
type network struct {
	mu       sync.Mutex
	on       []fault
	injected map[fault]int
	changed  chan struct{} // closed when the faults are switched
}

func newNetwork() *network {
	return &network{injected: map[fault]int{}, changed: make(chan struct{})}
}

// condition is what is wrong with a network, and how often each fault was met.
type condition struct {
	On       []fault       `json:"on"`
	Injected map[fault]int `json:"injected"`
}

func (n *network) condition() condition {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := condition{On: append([]fault{}, n.on...), Injected: map[fault]int{}}
	for _, f := range faults {
		c.Injected[f] = n.injected[f]
	}
	return c
}

func (n *network) set(on []fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.on = on
	close(n.changed)
	n.changed = make(chan struct{})
}

// has says whether one of some faults is on, and what is closed when that may have changed.
func (n *network) has(some ...fault) (bool, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(some, func(f fault) bool { return slices.Contains(n.on, f) }), n.changed
}

// meets says whether something meets a fault, and counts it.
func (n *network) meets(f fault) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.on, f) {
		return false
	}
	n.injected[f]++
	return true
}

// pass returns nil where an answer comes through, and errLost where it does not.
func (n *network) pass(answer *http.Response, slowBy time.Duration) error {
	if answer.Request.Method == http.MethodPost {
		n.delay(answer.Request.Context(), slowBy)
	}
	if n.meets(lostAnswer) || n.meets(offline) {
		return errLost
	}
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		answer.Body = n.stream(answer.Body)
	}
	return nil
}

// delay returns when an answer is late enough, the network is no longer slow, or nobody waits for it.
func (n *network) delay(ctx context.Context, by time.Duration) {
	if !n.meets(slow) {
		return
	}
	timer := time.NewTimer(by)
	defer timer.Stop()
	for {
		still, changed := n.has(slow)
		if !still {
			return
		}
		select {
		case <-changed:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// stream is a body that goes on, and is cut when nothing comes back any more.
func (n *network) stream(body io.ReadCloser) io.ReadCloser {
	s := &stream{ReadCloser: body, closed: make(chan struct{})}
	go func() {
		for {
			down, changed := n.has(lostAnswer, offline)
			if down {
				_ = body.Close()
				return
			}
			select {
			case <-changed:
			case <-s.closed:
				return
			}
		}
	}()
	return s
}

type stream struct {
	io.ReadCloser
	closed chan struct{}
	once   sync.Once
}

// Close implements io.Closer.
func (s *stream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.ReadCloser.Close()
}
