package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// gateway counts what arrives, and answers: with events that do not end, where they are asked for.
func gateway(t *testing.T) (target *url.URL, arrived *atomic.Int32) {
	t.Helper()
	arrived = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.Add(1)
		if strings.HasSuffix(r.URL.Path, "/events") {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, ": there\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		fmt.Fprintf(w, "%s %s", r.URL.Path, r.Header.Get("Authorization"))
	}))
	t.Cleanup(server.Close)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return target, arrived
}

// school serves networks to a gateway.
func school(t *testing.T) (address string, arrived *atomic.Int32) {
	t.Helper()
	target, arrived := gateway(t)
	mux := http.NewServeMux()
	newNetworks(&options{gateways: []*url.URL{target}, receiver: target, slow: time.Hour}).serve(mux)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/networks/42/student", arrived
}

// request returns what came back, with a fresh connection each time: Go's transport, too, sends again on a used one.
func request(t *testing.T, method, address, body string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer token")
	r.Close = true
	return http.DefaultClient.Do(r)
}

func set(t *testing.T, address, list string) string {
	t.Helper()
	answer, err := request(t, http.MethodPut, address, list)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return said(t, answer)
}

func said(t *testing.T, answer *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func TestFaultsOfANetwork(t *testing.T) {
	for _, tt := range []struct {
		fault   string
		arrives int32
		answer  string // "": none comes
		counted string
	}{
		{"", 1, "/v1/x Bearer token", `{"logged-out":0,"lost-answer":0,"offline":0,"slow":0}`},
		{"lost-answer", 1, "", `{"logged-out":0,"lost-answer":1,"offline":0,"slow":0}`},
		{"offline", 0, "", `{"logged-out":0,"lost-answer":0,"offline":1,"slow":0}`},
		{"logged-out", 1, "/v1/x", `{"logged-out":1,"lost-answer":0,"offline":0,"slow":0}`},
	} {
		t.Run("fault "+tt.fault, func(t *testing.T) {
			address, arrived := school(t)
			if tt.fault != "" {
				set(t, address, `["`+tt.fault+`"]`)
			}
			answer, err := request(t, http.MethodPost, address+"/gateway/v1/x", "")
			got := ""
			if err == nil {
				defer answer.Body.Close()
				got = said(t, answer)
			}
			if got != tt.answer || (err == nil) != (tt.answer != "") || arrived.Load() != tt.arrives {
				t.Errorf("answered %q (%v), and %d arrived; want %q and %d", got, err, arrived.Load(), tt.answer, tt.arrives)
			}
			if is, want := set(t, address, `[]`), `{"on":[],"injected":`+tt.counted+`}`; is != want {
				t.Errorf("the network says %s, want %s", is, want)
			}
		})
	}
}

// TestSlowNetwork holds back the answer to what is sent, which has arrived, and no other; and lets it go when it is no longer slow.
func TestSlowNetwork(t *testing.T) {
	address, arrived := school(t)
	set(t, address, `["slow"]`)
	if answer, err := request(t, http.MethodGet, address+"/gateway/v1/x", ""); err != nil {
		t.Fatal(err)
	} else if answer.Body.Close(); answer.StatusCode != http.StatusOK {
		t.Errorf("a question is answered with %s", answer.Status)
	}
	answered := make(chan error, 1)
	go func() {
		answer, err := request(t, http.MethodPost, address+"/gateway/v1/x", "")
		if err == nil {
			answer.Body.Close()
		}
		answered <- err
	}()
	for !strings.Contains(set(t, address, `["slow"]`), `"slow":1`) {
		select {
		case err := <-answered:
			t.Fatal("it is answered at once", err)
		default:
		}
	}
	if arrived.Load() != 2 {
		t.Errorf("%d arrived while the answer is held back, want 2", arrived.Load())
	}
	set(t, address, `[]`)
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// TestEventsAreCut when nothing comes back any more.
func TestEventsAreCut(t *testing.T) {
	for _, fault := range []string{"offline", "lost-answer"} {
		t.Run(fault, func(t *testing.T) {
			address, _ := school(t)
			answer, err := request(t, http.MethodGet, address+"/gateway/v1/x/events", "")
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			set(t, address, `["`+fault+`"]`)
			if text, err := io.ReadAll(answer.Body); err == nil || string(text) != ": there\n\n" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

func TestFaultsThatAreNone(t *testing.T) {
	address, _ := school(t)
	for _, list := range []string{`["rain"]`, `{}`} {
		if answer, err := request(t, http.MethodPut, address, list); err != nil {
			t.Error(err)
		} else if answer.Body.Close(); answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", list, answer.Status)
		}
	}
}
