package gateway

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// unsigned is a token that is well formed, and whose signature nobody has made.
const unsigned = "eyJhbGciOiJFUzI1NiIsImtpZCI6Im9uZSJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoic3R1LTciLCJhdWQiOiJzY2hvb2wiLCJleHAiOjQxMDI0NDQ4MDB9.AAAA"

// TestKeysThatCannotBeRead are no reason to send somebody away for good.
func TestKeysThatCannotBeRead(t *testing.T) {
	status, says := http.StatusBadGateway, `{"keys":[]}`
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(says))
	}))
	now := clocktesting.NewFakePassiveClock(time.Now())
	verifying, err := newOIDC(t.Context(), Issuer{URL: "https://issuer.example", Audience: "school", KeysURL: keys.URL}, now)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(wanted ProblemType) {
		t.Helper()
		now.SetTime(now.Now().Add(keysPause))
		if _, wrong := verifying.Authenticate(t.Context(), unsigned); wrong == nil || wrong.Type != wanted.Type() {
			t.Errorf("%+v, want %s", wrong, wanted.Name)
		}
	}
	for _, status = range []int{http.StatusBadGateway, http.StatusTooManyRequests, http.StatusNotFound, http.StatusForbidden} {
		expect(unavailable)
	}
	status = http.StatusOK
	expect(unauthenticated)
	says = "<h1>Log in</h1>"
	expect(unavailable)
	keys.Close()
	expect(unavailable)
}

// TestAnIssuerIsAskedOnceInAWhile, however many tokens come that it has not signed: anybody can make them.
func TestAnIssuerIsAskedOnceInAWhile(t *testing.T) {
	var asked atomic.Int32
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/keys", http.StatusFound)
			return
		}
		if asked.Add(1) == 2 {
			w.WriteHeader(http.StatusBadGateway)
		}
		_, _ = w.Write([]byte(`{"keys":[]}`))
	}))
	defer keys.Close()
	now := clocktesting.NewFakePassiveClock(time.Now())
	verifying, err := newOIDC(t.Context(), Issuer{URL: "https://issuer.example", Audience: "school", KeysURL: keys.URL}, now)
	if err != nil {
		t.Fatal(err)
	}
	for i, wanted := range []ProblemType{unauthenticated, unavailable, unauthenticated} {
		for range 3 {
			if _, wrong := verifying.Authenticate(t.Context(), unsigned); wrong == nil || wrong.Type != wanted.Type() {
				t.Errorf("%+v, want %s", wrong, wanted.Name)
			}
		}
		if got := int(asked.Load()); got != i+1 {
			t.Errorf("the issuer was asked %d times in %d pauses", got, i+1)
		}
		now.SetTime(now.Now().Add(keysPause))
	}
}

func TestAnIssuerThatSaysNothing(t *testing.T) {
	silent := httptest.NewServer(http.NotFoundHandler())
	defer silent.Close()
	_, err := NewOIDC(t.Context(), Issuer{URL: silent.URL, Audience: "school"})
	if err == nil || !strings.Contains(err.Error(), "--oidc-keys-url") {
		t.Errorf("%v", err)
	}
}

// TestKeysOverPlainHTTP are not read, whoever says that they are there: the issuer's document, or a redirect.
func TestKeysOverPlainHTTP(t *testing.T) {
	var issuer *httptest.Server
	issuer = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved/.well-known/openid-configuration" {
			http.Redirect(w, r, "http://keys.example/", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"issuer":"` + issuer.URL + `","jwks_uri":"http://keys.example/keys"}`))
	}))
	defer issuer.Close()
	for _, url := range []string{issuer.URL, issuer.URL + "/moved"} {
		if _, err := NewOIDC(t.Context(), Issuer{URL: url, Audience: "school"}); err == nil || !strings.Contains(err.Error(), overPlainHTTP) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestNames are those that the API server gives to people whose tokens it verifies itself, from the same two settings.
func TestNames(t *testing.T) {
	claims := map[string]any{"sub": "stu-7", "email": "ann@school.example", "email_verified": true, "roles": []any{"teacher"}}
	unverified := map[string]any{"sub": "stu-7", "email": "ann@school.example", "email_verified": false}
	for _, row := range []struct {
		reason, claim, prefix string
		claims                map[string]any
		want                  string
	}{
		{"left out, it tells the issuers apart", "sub", "", claims, "https://issuer.example#stu-7"},
		{"a prefix", "sub", "oidc:", claims, "oidc:stu-7"},
		{"none", "sub", "-", claims, "stu-7"},
		{"an address tells the issuers apart", "email", "", claims, "ann@school.example"},
		{"a prefix of an address", "email", "oidc:", claims, "oidc:ann@school.example"},
		{"an address that nobody has verified", "email", "", unverified, ""},
		{"which does not matter where another claim names", "sub", "-", unverified, "stu-7"},
		{"a claim that there is not", "name", "", claims, ""},
		{"a claim that is no name", "roles", "", claims, ""},
	} {
		issuer := Issuer{URL: "https://issuer.example", UsernameClaim: row.claim, UsernamePrefix: row.prefix}
		if got := issuer.username(row.claims); got != row.want {
			t.Errorf("%s: %q, want %q", row.reason, got, row.want)
		}
	}
}

// TestAnIssuerOfOnesOwnAuthority is trusted where its authority was named, and by nobody else.
func TestAnIssuerOfOnesOwnAuthority(t *testing.T) {
	issuer := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"issuer":"https://` + r.Host + `","jwks_uri":"https://` + r.Host + `/keys"}`))
	}))
	issuer.Config.ErrorLog = log.New(io.Discard, "", 0) // of who does not trust it
	issuer.StartTLS()
	defer issuer.Close()
	authorities := filepath.Join(t.TempDir(), "ca.crt")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: issuer.Certificate().Raw})
	if err := os.WriteFile(authorities, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewOIDC(t.Context(), Issuer{URL: issuer.URL, Audience: "school", CAFile: authorities}); err != nil {
		t.Errorf("its authority was named: %v", err)
	}
	for file, says := range map[string]string{"": "certificate", authorities + "x": "--oidc-ca-file", "oidc_test.go": "holds no certificate"} {
		if _, err := NewOIDC(t.Context(), Issuer{URL: issuer.URL, Audience: "school", CAFile: file}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("authorities %q: %v, want %q", file, err, says)
		}
	}
}
