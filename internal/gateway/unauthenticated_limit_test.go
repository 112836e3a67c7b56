package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/lru"
)

// people is what the gateway itself knows: whose token each is.
type people map[string]string

func (p people) Authenticate(_ context.Context, token string) (*Caller, *Problem) {
	if p[token] == "" {
		return nil, refuseToken("it is made up")
	}
	return &Caller{Identity: p[token], Claims: map[string]any{}}, nil
}

// asking is a request of somebody, and what comes of it.
type asking struct {
	from, token string
	status      int
}

// play sends requests one after the other, to a gateway where the limit of a caller and that of an address are both 2.
func play(t *testing.T, callers Authenticator, served http.HandlerFunc, all []asking) {
	t.Helper()
	g, slow := &Gateway{Callers: callers}, rate.Every(time.Hour)
	own, shared := &limits{rate: slow, burst: 2, callers: lru.New(maxCallers)}, newUnauthenticatedLimit(slow, 2, nil)
	for i, ask := range all {
		request := httptest.NewRequest(http.MethodGet, "/v1/", http.NoBody)
		request.RemoteAddr = ask.from
		request.Header.Set("Authorization", "Bearer "+ask.token)
		answer := httptest.NewRecorder()
		g.authenticated(answer, request, served, own, shared)
		if answer.Code != ask.status {
			t.Errorf("request %d: %d, want %d", i, answer.Code, ask.status)
		}
	}
}

// TestMadeUpTokensShareALimit where the API server verifies tokens: those that would be refused are not asked about.
func TestMadeUpTokensShareALimit(t *testing.T) {
	asked := 0
	play(t, PassThrough{}, func(w http.ResponseWriter, r *http.Request) {
		if asked++; callerOf(r.Context()).bearer != "real" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}, []asking{
		{"192.0.2.1:1000", "real", 200},
		{"192.0.2.1:1001", "a", 401},
		{"192.0.2.1:1002", "b", 401},
		{"192.0.2.1:1003", "c", 429},
		{"192.0.2.1:1004", "", 429},
		{"192.0.2.1:1005", "real", 200}, // was accepted before
		{"192.0.2.2:1000", "a", 401},    // another address
		{"[2001:db8::1]:1", "d", 401},
		{"[2001:db8::2]:1", "e", 401},
		{"[2001:db8::3]:1", "f", 429}, // the same network
		{"[2001:db8:0:1::1]:1", "f", 401},
	})
	if asked != 8 {
		t.Errorf("the API server was asked about %d tokens", asked)
	}
}

// TestWhoIsVerifiedIsHeldUpByNobody: where the gateway verifies tokens, strangers behind the same address use up what strangers have,
// and callers what is their own, with whatever token.
func TestWhoIsVerifiedIsHeldUpByNobody(t *testing.T) {
	served := func(http.ResponseWriter, *http.Request) {}
	const ingress = "10.0.0.1:1000"
	play(t, people{"ann": "ann", "ann's next": "ann", "bob": "bob"}, served, []asking{
		{ingress, "a", 401},
		{ingress, "b", 401},
		{ingress, "c", 429},
		{ingress, "", 429},
		{ingress, "ann", 200},
		{ingress, "ann's next", 200},
		{ingress, "ann", 429}, // has sent as many as she may
		{ingress, "bob", 200},
		{"10.0.0.2:1000", "a", 401},
	})
}

// TestABadRequestVouchesForNoToken: it is refused before the API server has seen the token.
func TestABadRequestVouchesForNoToken(t *testing.T) {
	for status, wanted := range map[int]struct{ vouches, counts bool }{
		200: {vouches: true}, 201: {vouches: true}, 403: {vouches: true}, 404: {vouches: true}, 409: {vouches: true}, 422: {vouches: true}, 424: {vouches: true},
		400: {counts: true}, 401: {counts: true}, 406: {counts: true}, 408: {counts: true}, 413: {counts: true}, 415: {counts: true}, 429: {counts: true},
		500: {}, 503: {},
	} {
		limit := newUnauthenticatedLimit(rate.Every(time.Hour), 1, nil)
		request := httptest.NewRequest(http.MethodGet, "/v1/", http.NoBody)
		if !limit.admit(request, "a") {
			t.Fatal("the first one is refused")
		}
		limit.learn(request, "a", status)
		if limit.admit(request, "b") == wanted.counts {
			t.Errorf("%d counts: %t", status, !wanted.counts)
		}
		limit.learn(request, "c", http.StatusUnauthorized) // the limit is reached now, whatever came before
		if limit.admit(request, "a") != wanted.vouches {
			t.Errorf("%d vouches for a token: %t", status, !wanted.vouches)
		}
	}
}

// TestWhoIsBehindAProxy: one caller behind an ingress does not use up what all behind it have.
func TestWhoIsBehindAProxy(t *testing.T) {
	limit := newUnauthenticatedLimit(rate.Every(time.Hour), 1, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")})
	for _, test := range []struct {
		reason, from string
		forwarded    []string
		want         string
	}{
		{"nothing is between", "192.0.2.1:1", nil, "192.0.2.1"},
		{"whom nobody trusts says anything", "192.0.2.1:1", []string{"198.51.100.7"}, "192.0.2.1"},
		{"a proxy", "10.0.0.1:1", []string{"198.51.100.7"}, "198.51.100.7"},
		{"a proxy by IPv6, which maps", "[::ffff:10.0.0.1]:1", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
		{"two proxies, in two lines", "10.0.0.1:1", []string{"198.51.100.7", "10.0.0.2"}, "198.51.100.7"},
		{"what the caller has written itself", "10.0.0.1:1", []string{"203.0.113.9, 198.51.100.7"}, "198.51.100.7"},
		{"IPv6", "[fd00::1]:1", []string{"2001:db8::5"}, "2001:db8::/64"},
		{"a proxy that says nothing", "10.0.0.1:1", nil, "10.0.0.1"},
		{"a proxy that says nonsense", "10.0.0.1:1", []string{"unknown"}, "10.0.0.1"},
		{"proxies alone", "10.0.0.1:1", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
	} {
		request := httptest.NewRequest(http.MethodGet, "/v1/", http.NoBody)
		request.RemoteAddr = test.from
		request.Header["X-Forwarded-For"] = test.forwarded
		if got := limit.addressOf(request); got != test.want {
			t.Errorf("%s: %s, want %s", test.reason, got, test.want)
		}
	}
}

// TestATokenThatIsAcceptedNoMore is not known any longer: it was revoked, or has expired.
func TestATokenThatIsAcceptedNoMore(t *testing.T) {
	all := newUnauthenticatedLimit(rate.Every(time.Hour), 1, nil)
	request := httptest.NewRequest(http.MethodGet, "/v1/", http.NoBody)
	all.learn(request, "a", http.StatusOK)
	all.learn(request, "a", http.StatusUnauthorized)
	if all.admit(request, "a") {
		t.Error("it is asked about without a limit, for ever")
	}
}
