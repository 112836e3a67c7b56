package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// networks are those of all persons, made when they are first used.
type networks struct {
	mu     sync.Mutex
	byTask map[string]map[string]*network

	slowBy   time.Duration
	gateways []*url.URL
	turn     atomic.Int64
	receiver *url.URL
}

func newNetworks(o *options) *networks {
	return &networks{byTask: map[string]map[string]*network{}, slowBy: o.slow, gateways: o.gateways, receiver: o.receiver}
}

// serve adds the switches, and what is behind the networks: the gateways, and the receiver for pages without taskonce.
func (n *networks) serve(mux *http.ServeMux) {
	mux.HandleFunc("PUT /networks/{task}/{who}", n.change)
	mux.Handle("/networks/{task}/{who}/gateway/", n.through("gateway", func(out *http.Request) {
		out.URL.Host = n.gateways[n.turn.Add(1)%int64(len(n.gateways))].Host
	}))
	mux.Handle("POST /networks/{task}/{who}/receiver/plain/points", n.through("receiver", func(out *http.Request) {
		out.URL.Host = n.receiver.Host
		// That interface has no keys, so what arrives is something new each time. The receiver wants one for its ledger.
		out.Header.Set("Idempotency-Key", `"without-taskonce/`+rand.Text()[:6]+`"`)
	}))
}

func (n *networks) get(task, who string) *network {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byTask[task] == nil {
		n.byTask[task] = map[string]*network{}
	}
	if n.byTask[task][who] == nil {
		n.byTask[task][who] = newNetwork()
	}
	return n.byTask[task][who]
}

// of returns the condition of each network that was used for a task.
func (n *networks) of(task string) map[string]condition {
	n.mu.Lock()
	defer n.mu.Unlock()
	conditions := map[string]condition{}
	for who, network := range n.byTask[task] {
		conditions[who] = network.condition()
	}
	return conditions
}

// change switches faults: those that are named are on.
func (n *networks) change(w http.ResponseWriter, r *http.Request) {
	var on []fault
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&on); err != nil {
		http.Error(w, "the body must be a list of faults: "+err.Error(), http.StatusBadRequest)
		return
	}
	for _, f := range on {
		if !slices.Contains(faults, f) {
			http.Error(w, "there is no fault "+string(f), http.StatusBadRequest)
			return
		}
	}
	network := n.get(r.PathValue("task"), r.PathValue("who"))
	network.set(on)
	writeJSON(w, network.condition())
}

// networkKey is the context key of a request's network.
type networkKey struct{}

// through sends requests over a person's network to a target, below which is what follows the segment in the path.
func (n *networks) through(segment string, aim func(*http.Request)) http.Handler {
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1, // server-sent events
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme = "http"
			aim(r.Out)
		},
		ModifyResponse: func(answer *http.Response) error {
			return answer.Request.Context().Value(networkKey{}).(*network).pass(answer, n.slowBy)
		},
		ErrorLog:     log.New(io.Discard, "", 0), // what is cut here is meant to be
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		network := n.get(r.PathValue("task"), r.PathValue("who"))
		if network.meets(offline) {
			panic(http.ErrAbortHandler) // the connection ends
		}
		if network.meets(loggedOut) {
			r.Header.Del("Authorization")
		}
		prefix, _, _ := strings.Cut(r.URL.Path, "/"+segment+"/")
		http.StripPrefix(prefix+"/"+segment, proxy).ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), networkKey{}, network)))
	})
}

func writeJSON(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(body) // whoever has gone away gets nothing
}
