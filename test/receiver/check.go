package main

import (
	"net/http"
	"time"

	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// check answers the question whether a key has had its effect: 200 with the receipt, or 404.
func (r *receiver) check(w http.ResponseWriter, request *http.Request) {
	key := request.PathValue("key")
	done, ok := r.applied(key)
	entry := ledger.Entry{Path: request.URL.Path, Key: key, Traceparent: request.Header.Get("Traceparent"), Status: http.StatusOK}
	if !ok {
		entry.Status = http.StatusNotFound
	}
	r.write(ledger.Check, entry)
	if !ok {
		answer(w, http.StatusNotFound, map[string]string{"error": "nothing is known of this key"})
		return
	}
	if done.slowToTell {
		select {
		case <-time.After(r.slowToTell):
		case <-request.Context().Done(): // nobody listens any more
		}
	}
	answer(w, http.StatusOK, done)
}
