package main

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
)

// receiver answers every effect at once, and counts them by key.
type receiver struct {
	url    string
	server *http.Server

	mu      sync.Mutex
	effects map[string]int
}

func startReceiver() (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{url: "http://" + listener.Addr().String(), effects: map[string]int{}}
	r.server = &http.Server{Handler: http.HandlerFunc(r.apply)} //nolint:gosec // its only client is the operator
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

func (r *receiver) apply(w http.ResponseWriter, request *http.Request) {
	key := strings.Trim(request.Header.Get("Idempotency-Key"), `"`)
	r.mu.Lock()
	r.effects[key]++
	r.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"receipt": %q, "points": 10}`, key)
}

// compare returns how many of the keys had exactly one effect, and a sentence for each other one and for each key that
// nobody asked for.
func (r *receiver) compare(keys []string) (once int, faults []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := map[string]bool{}
	for _, key := range keys {
		asked[key] = true
		if r.effects[key] == 1 {
			once++
		} else {
			faults = append(faults, fmt.Sprintf("%s had %d effects instead of 1", key, r.effects[key]))
		}
	}
	for key, count := range r.effects {
		if !asked[key] {
			faults = append(faults, fmt.Sprintf("%q had %d effects, and nobody asked for it", key, count))
		}
	}
	return once, faults
}
