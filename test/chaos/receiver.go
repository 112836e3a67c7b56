package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// receiver is what the effects are sent to. Its log is the truth about what happened.
type receiver struct {
	seed    uint64
	chances []chance
	stall   time.Duration // of a call that stalls
	address string
	path    string // of the log
	log     *ledger.Log
	server  *http.Server

	mu       sync.Mutex
	calls    map[string]int
	inHand   map[string]int     // calls of each key that may still have their effect
	receipts map[string]receipt // the first effect of each key
	effects  int
	stalls   int // of what can be asked about
	broken   error
	work     sync.WaitGroup // calls that may still have their effect
}

type receipt struct {
	Receipt int    `json:"receipt"`
	Key     string `json:"key"`
}

func startReceiver(options Options, dir string) (*receiver, error) {
	r := &receiver{
		seed: options.Seed, chances: usual, stall: stall, path: filepath.Join(dir, "ledger.jsonl"),
		calls: map[string]int{}, inHand: map[string]int{}, receipts: map[string]receipt{},
	}
	if options.Weakness != "" {
		r.chances, r.stall = stalling, longStall
	}
	var err error
	if r.log, err = ledger.Open(r.path); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, r.log.Close())
	}
	r.address = listener.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{kind}", r.take)
	mux.HandleFunc("GET /effects/{key}", r.check)
	r.server = &http.Server{Handler: mux, ReadHeaderTimeout: patience}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

// drain returns when no call can have an effect any more, and what is wrong with the log.
func (r *receiver) drain() error {
	r.work.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}

func (r *receiver) close() error { return errors.Join(r.server.Close(), r.log.Close()) }

// take logs a call and makes of it what is drawn.
func (r *receiver) take(w http.ResponseWriter, request *http.Request) {
	arrived := time.Now()
	r.work.Add(1)
	defer r.work.Done()
	var body struct {
		Payload json.Number `json:"payload"`
	}
	if err := json.NewDecoder(request.Body).Decode(&body); err != nil {
		return // half a request is none
	}
	key := strings.Trim(request.Header.Get("Idempotency-Key"), `" `)
	entry := ledger.Entry{Key: key, Attempt: request.Header.Get("Taskonce-Attempt"), BusinessKey: request.Header.Get("Business-Key"), Amount: body.Payload}
	kind := kind(request.PathValue("kind"))
	made := r.begin(kind, &entry)
	defer r.end(entry.Key)
	if made == moveStall {
		pass(context.Background(), r.stall)
	}
	switch made {
	case moveDropBefore:
		cut(w)
		return
	case moveBusy:
		w.Header().Set("Retry-After", "1")
		answer(w, http.StatusTooManyRequests, map[string]string{"error": "come back later"})
		return
	case moveReject:
		answer(w, http.StatusUnprocessableEntity, map[string]string{"error": "never"})
		return
	}
	done, inTime := r.apply(kind, entry, arrived)
	if !inTime {
		cut(w)
		return
	}
	switch made {
	case moveDropAfter:
		cut(w)
	case moveError:
		answer(w, http.StatusInternalServerError, map[string]string{"error": "something broke, afterwards"})
	case moveHalf:
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"receipt": `))
		_ = http.NewResponseController(w).Flush()
		cut(w)
	default:
		answer(w, http.StatusOK, done)
	}
}

// begin logs a call and draws what is made of it. What has been applied by a receiver that knows its keys is never
// refused by it.
func (r *receiver) begin(kind kind, entry *ledger.Entry) move {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[entry.Key]++
	r.inHand[entry.Key]++
	made := moveOf(r.chances, r.seed, entry.Key, r.calls[entry.Key])
	if _, applied := r.receipts[entry.Key]; applied && kind == idempotent && made == moveReject {
		made = moveApply
	}
	if made == moveStall && kind == verifiable {
		r.stalls++
	}
	entry.Path = "/" + string(kind) + "/" + string(made)
	r.write(ledger.Call, *entry)
	return made
}

// end says that a call can have no effect any more.
func (r *receiver) end(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inHand[key]--; r.inHand[key] == 0 {
		delete(r.inHand, key)
	}
}

// apply has the effect, unless it is too late for it. Only an idempotent receiver asks whether the key has had it.
func (r *receiver) apply(kind kind, entry ledger.Entry, arrived time.Time) (done receipt, inTime bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	done, again := r.receipts[entry.Key]
	switch {
	case again && kind == idempotent:
		return done, true
	case time.Since(arrived) > r.stall+slack:
		return receipt{}, false
	}
	r.effects++
	entry.Receipt = r.effects
	r.write(ledger.Effect, entry)
	done = receipt{Receipt: r.effects, Key: entry.Key}
	if !again {
		r.receipts[entry.Key] = done
	}
	return done, true
}

func (r *receiver) stalled() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stalls
}

// truth tells a person whether a key has had its effect; not while a call of it may still have one.
func (r *receiver) truth(key string) (done receipt, applied, certain bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	done, applied = r.receipts[key]
	return done, applied, r.inHand[key] == 0
}

// check answers whether a key has had its effect; the first question about some keys is not answered.
func (r *receiver) check(w http.ResponseWriter, request *http.Request) {
	key := request.PathValue("key")
	r.mu.Lock()
	r.calls["check "+key]++
	coy := r.calls["check "+key] == 1 && draw(r.seed, "check "+key).IntN(4) == 0
	done, ok := r.receipts[key]
	entry := ledger.Entry{Path: request.URL.Path, Key: key, Status: http.StatusNotFound}
	switch {
	case coy:
		entry.Status = http.StatusServiceUnavailable
	case ok:
		entry.Status = http.StatusOK
	}
	r.write(ledger.Check, entry)
	r.mu.Unlock()
	if entry.Status != http.StatusOK {
		answer(w, entry.Status, map[string]string{"error": "nothing is told of " + strconv.Quote(key)})
		return
	}
	answer(w, http.StatusOK, done)
}

// write appends to the log. The lock is held.
func (r *receiver) write(kind ledger.Kind, entry ledger.Entry) {
	entry.Kind = kind
	r.broken = errors.Join(r.broken, r.log.Append(entry))
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // whoever has gone away gets nothing
}

// cut ends the connection, with a reset where it can.
func cut(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = connection.Close()
}

// pass lets time go by.
func pass(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
