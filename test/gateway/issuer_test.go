package gateway_test

import (
	"crypto/ecdsa"
	"testing"

	"github.com/taskonce/taskonce/test/harness"
)

// issuer vouches for people.
type issuer struct{ *harness.Issuer }

// token signs claims; what they leave out is as it should be.
func (i issuer) token(t *testing.T, key *ecdsa.PrivateKey, claims map[string]any) string {
	t.Helper()
	token, err := i.Token(key, claims)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// of returns a token of somebody.
func (i issuer) of(t *testing.T, subject string) string {
	t.Helper()
	return i.token(t, i.Key, map[string]any{"sub": subject})
}
