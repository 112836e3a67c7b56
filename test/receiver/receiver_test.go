package main

import (
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// bench is a receiver on a port of its own.
type bench struct {
	t    *testing.T
	url  string
	log  string
	http *http.Client
}

// setUp starts a receiver, and a client that reuses connections or does not.
func setUp(t *testing.T, reuse bool) *bench {
	t.Helper()
	b := &bench{t: t, log: filepath.Join(t.TempDir(), "ledger.jsonl")}
	b.http = &http.Client{Transport: &http.Transport{DisableKeepAlives: !reuse}}
	log, err := ledger.Open(b.log)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := newReceiver(log)
	r.lateBy, r.slowBy, r.slowToTell = 100*time.Millisecond, 10*time.Millisecond, 10*time.Millisecond
	server := newServer(r)
	b.url = "http://" + listener.Addr().String()
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		_ = log.Close()
	})
	return b
}

// call returns the status and the body of the answer, or 0 where there was none.
func (b *bench) call(path, key string) (status int, body string, header http.Header) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.url+path, strings.NewReader(`{"amount": 9007199254740993}`))
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Idempotency-Key", strconv.Quote(key))
	request.Header.Set("Business-Key", "task/42")
	request.Header.Set("Taskonce-Attempt", "1")
	return b.do(request)
}

func (b *bench) do(request *http.Request) (status int, body string, header http.Header) {
	b.t.Helper()
	answer, err := b.http.Do(request)
	if err != nil {
		return 0, "", nil
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer.StatusCode, string(text), answer.Header
}

func (b *bench) check(key string) int {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.url+"/effects/"+strings.ReplaceAll(key, "/", "%2F"), http.NoBody)
	if err != nil {
		b.t.Fatal(err)
	}
	status, _, _ := b.do(request)
	return status
}

func (b *bench) admin(what string) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.url+"/admin/"+what, http.NoBody)
	if err != nil {
		b.t.Fatal(err)
	}
	if status, body, _ := b.do(request); status != http.StatusNoContent {
		b.t.Fatalf("%s: %d %s", what, status, body)
	}
}

// expect compares how many calls and effects of a key are in the log.
func (b *bench) expect(key string, calls, effects int) {
	b.t.Helper()
	entries, err := ledger.Read(b.log)
	if err != nil {
		b.t.Fatal(err)
	}
	gotCalls, gotEffects := ledger.Select(entries, ledger.Call, key), ledger.Select(entries, ledger.Effect, key)
	if len(gotCalls) != calls || len(gotEffects) != effects {
		b.t.Errorf("%s: %d calls and %d effects, want %d and %d", key, len(gotCalls), len(gotEffects), calls, effects)
	}
}
