package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// receiver is the state behind the server: what has been applied, and which requests are still being worked on.
type receiver struct {
	log *ledger.Log
	// lateBy is how long after a call "late" applies it.
	lateBy time.Duration
	// slowBy is how long "slow" takes.
	slowBy time.Duration
	// slowToTell is how long a check takes on an effect whose connection was cut.
	slowToTell time.Duration

	mu       sync.Mutex
	effects  int
	receipts map[string]receipt // the first effect of each key
	calls    map[string]int     // calls of each key

	released    chan struct{} // closed when held calls may go on
	releaseOnce sync.Once
	work        sync.WaitGroup // calls that may still have their effect
}

// receipt is what an effect is answered with, and what a check finds.
type receipt struct {
	Receipt int         `json:"receipt"`
	Key     string      `json:"key"`
	Amount  json.Number `json:"amount,omitempty"`

	slowToTell bool
}

func newReceiver(log *ledger.Log) *receiver {
	return &receiver{
		log: log, lateBy: lateBy, slowBy: slowBy, slowToTell: slowToTell,
		receipts: map[string]receipt{}, calls: map[string]int{}, released: make(chan struct{}),
	}
}

// call is one request for an effect.
type call struct {
	ledger.Entry
	// Number of the call among those with the same key, from 1.
	Number int
	// OnConnection is the number of the request on its connection, from 1.
	OnConnection int64
}

// onConnection is the context key of a connection's count of requests.
type onConnection struct{}

// newServer returns the server with all of its routes.
func newServer(r *receiver) *http.Server {
	mux := http.NewServeMux()
	for name, behave := range r.behaviours() {
		mux.HandleFunc("POST /"+name+"/", r.take(behave))
	}
	mux.HandleFunc("GET /effects/{key}", r.check)
	r.admin(mux)
	return &http.Server{
		Handler: mux,
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, onConnection{}, new(atomic.Int64))
		},
	}
}

// take reads the whole request, logs the call, and lets the behaviour do the rest.
func (r *receiver) take(behave behaviour) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		r.work.Add(1)
		defer r.work.Done()
		count := request.Context().Value(onConnection{}).(*atomic.Int64).Add(1)
		body, err := io.ReadAll(io.LimitReader(request.Body, 1<<20))
		if err != nil {
			return // half a request is none
		}
		key, err := decodeKey(request.Header.Get("Idempotency-Key"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var payload struct {
			Amount json.Number `json:"amount"`
		}
		_ = json.Unmarshal(body, &payload) // a body without an amount is fine
		c := call{OnConnection: count, Entry: ledger.Entry{
			Path: request.URL.Path, Key: key, BusinessKey: request.Header.Get("Business-Key"),
			Attempt: request.Header.Get("Taskonce-Attempt"), Traceparent: request.Header.Get("Traceparent"), Amount: payload.Amount,
		}}
		c.Number = r.count(c)
		behave(w, c)
	}
}

// count logs the call and returns its number among those of its key.
func (r *receiver) count(c call) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[c.Key]++
	r.write(ledger.Call, c.Entry)
	return r.calls[c.Key]
}

// apply has the effect, whether or not the key has had it before: it is the callers' business to prevent that.
func (r *receiver) apply(c call) receipt {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.effects++
	entry := c.Entry
	entry.Receipt = r.effects
	r.write(ledger.Effect, entry)
	done := receipt{Receipt: r.effects, Key: c.Key, Amount: c.Amount}
	if _, again := r.receipts[c.Key]; !again {
		r.receipts[c.Key] = done
	}
	return done
}

// applied returns the first effect of a key.
func (r *receiver) applied(key string) (receipt, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	done, ok := r.receipts[key]
	return done, ok
}

// write appends to the log. A receiver that cannot keep its log is of no use to anybody, so it ends.
func (r *receiver) write(kind ledger.Kind, entry ledger.Entry) {
	entry.Kind = kind
	if err := r.log.Append(entry); err != nil {
		fmt.Fprintln(os.Stderr, "receiver: the log:", err)
		os.Exit(1)
	}
}

// answer writes a JSON answer.
func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // whoever has gone away gets nothing
}
