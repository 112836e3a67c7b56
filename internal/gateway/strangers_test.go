package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// knows accepts one token, and counts how often it is asked.
type knows struct {
	token string
	asked int
}

func (k *knows) Authenticate(_ context.Context, token string) (*Caller, *Problem) {
	if k.asked++; token != k.token {
		return nil, refuseToken("it is made up")
	}
	return &Caller{Identity: token}, nil
}

func TestMadeUpTokensShareALimit(t *testing.T) {
	callers := &knows{token: "real"}
	g, slow := &Gateway{Callers: callers}, rate.Every(time.Hour)
	served := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	own, all := &limits{}, newStrangers(slow, 2)
	for i, ask := range []struct {
		from, token string
		status      int
	}{
		{"192.0.2.1:1000", "real", 200},
		{"192.0.2.1:1001", "a", 401},
		{"192.0.2.1:1002", "b", 401},
		{"192.0.2.1:1003", "c", 429},
		{"192.0.2.1:1004", "", 429},
		{"192.0.2.1:1005", "real", 200}, // was accepted before
		{"192.0.2.2:1000", "a", 401},    // another address
		{"[2001:db8::1]:1", "a", 401},
		{"[2001:db8::2]:1", "b", 401},
		{"[2001:db8::3]:1", "c", 429}, // the same network
		{"[2001:db8:0:1::1]:1", "c", 401},
	} {
		request := httptest.NewRequest(http.MethodGet, "/v1/", http.NoBody)
		request.RemoteAddr = ask.from
		request.Header.Set("Authorization", "Bearer "+ask.token)
		answer := httptest.NewRecorder()
		g.authenticated(answer, request, served, own, all)
		if answer.Code != ask.status {
			t.Errorf("request %d: %d, want %d", i, answer.Code, ask.status)
		}
	}
	if callers.asked != 8 {
		t.Errorf("%d tokens were looked at: those that are refused must not be", callers.asked)
	}
}

// TestATokenThatIsAcceptedNoMoreIsAStrangers: it was revoked, or has expired.
func TestATokenThatIsAcceptedNoMoreIsAStrangers(t *testing.T) {
	all := newStrangers(rate.Every(time.Hour), 1)
	request := httptest.NewRequest(http.MethodGet, "/v1/", http.NoBody)
	all.learn(request, "a", http.StatusOK)
	all.learn(request, "a", http.StatusUnauthorized)
	if all.admit(request, "a") {
		t.Error("it is asked about without a limit, for ever")
	}
}

// TestABadRequestVouchesForNoToken: it is refused before the API server has seen the token.
func TestABadRequestVouchesForNoToken(t *testing.T) {
	all := newStrangers(rate.Every(time.Hour), 1)
	request := httptest.NewRequest(http.MethodGet, "/v1/", http.NoBody)
	if !all.admit(request, "a") {
		t.Fatal("the first one is refused")
	}
	all.learn(request, "a", http.StatusBadRequest)
	if all.admit(request, "a") || all.admit(request, "b") {
		t.Error("bad requests have no limit")
	}
}
