package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Paths of the receiver, other than the one that answers at once.
const (
	pathBusy = "/busy" // refuses each key once
	pathSlow = "/slow" // answers after slowness
	pathHang = "/hang" // answers when it is let
)

const slowness = time.Second

// receiver carries out effects, and counts them by key.
type receiver struct {
	url    string
	server *http.Server

	mu      sync.Mutex
	effects map[string]int
	refused map[string]bool
	hanging int
	let     chan struct{} // closed: nothing hangs any more
}

func startReceiver() (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{url: "http://" + listener.Addr().String(), effects: map[string]int{}, refused: map[string]bool{}, let: make(chan struct{})}
	r.server = &http.Server{Handler: http.HandlerFunc(r.serve)} //nolint:gosec // its only client is the operator
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

func (r *receiver) close() error {
	return r.server.Close()
}

func (r *receiver) serve(w http.ResponseWriter, request *http.Request) {
	key := strings.Trim(request.Header.Get("Idempotency-Key"), `"`)
	switch request.URL.Path {
	case pathBusy:
		if r.refuse(key) {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
	case pathSlow:
		time.Sleep(slowness)
	case pathHang:
		if !r.hang(request) {
			return
		}
	}
	r.mu.Lock()
	r.effects[key]++
	r.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"receipt": %q, "points": 10}`, key)
}

// refuse reports whether a key comes for the first time.
func (r *receiver) refuse(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.refused[key]
	r.refused[key] = true
	return !before
}

// hang returns true when nothing hangs any more, and false when the caller has gone before.
func (r *receiver) hang(request *http.Request) bool {
	_, _ = io.Copy(io.Discard, request.Body) // the server notices that the caller has gone only after that
	r.mu.Lock()
	r.hanging++
	let := r.let
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.hanging--
		r.mu.Unlock()
	}()
	select {
	case <-let:
		return true
	case <-request.Context().Done():
		return false
	}
}

func (r *receiver) hangs() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hanging
}

// hold has calls hang again.
func (r *receiver) hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.let = make(chan struct{})
}

// release lets go on what hangs, and what would until it is held again.
func (r *receiver) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.let)
}

// total is how many effects there were.
func (r *receiver) total() (sum int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, count := range r.effects {
		sum += count
	}
	return sum
}

// enough is how many sentences are told of what is probably one thing.
const enough = 5

// compare returns a sentence for each key that did not have exactly one effect, and for each that nobody asked for; a few
// of them, where there are many.
func (r *receiver) compare(keys []string) (faults []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := map[string]bool{}
	for _, key := range keys {
		asked[key] = true
		if r.effects[key] != 1 {
			faults = append(faults, fmt.Sprintf("%s had %d effects instead of 1", key, r.effects[key]))
		}
	}
	for key, count := range r.effects {
		if !asked[key] {
			faults = append(faults, fmt.Sprintf("%q had %d effects, and nobody asked for it", key, count))
		}
	}
	if len(faults) > enough {
		return append(faults[:enough], fmt.Sprintf("and so had %d more", len(faults)-enough))
	}
	return faults
}
