package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// unsigned is a token that is well formed, and whose signature nobody has made.
const unsigned = "eyJhbGciOiJFUzI1NiIsImtpZCI6Im9uZSJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoic3R1LTciLCJhdWQiOiJzY2hvb2wiLCJleHAiOjQxMDI0NDQ4MDB9.AAAA"

// TestKeysThatCannotBeRead are no reason to send somebody away for good.
func TestKeysThatCannotBeRead(t *testing.T) {
	status := http.StatusBadGateway
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"keys":[]}`))
	}))
	verifying, err := NewOIDC(t.Context(), Issuer{URL: "https://issuer.example", Audience: "school", KeysURL: keys.URL})
	if err != nil {
		t.Fatal(err)
	}
	expect := func(wanted Kind) {
		t.Helper()
		if _, wrong := verifying.Authenticate(t.Context(), unsigned); wrong == nil || wrong.Type != wanted.Type() {
			t.Errorf("%+v, want %s", wrong, wanted.Name)
		}
	}
	expect(unavailable)
	status = http.StatusOK
	expect(unauthenticated)
	keys.Close()
	expect(unavailable)
}

func TestAnIssuerThatSaysNothing(t *testing.T) {
	silent := httptest.NewServer(http.NotFoundHandler())
	defer silent.Close()
	_, err := NewOIDC(t.Context(), Issuer{URL: silent.URL, Audience: "school"})
	if err == nil || !strings.Contains(err.Error(), "--oidc-keys-url") {
		t.Errorf("%v", err)
	}
}
