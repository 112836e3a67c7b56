package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// Caller is who sends a request, as far as the gateway knows.
type Caller struct {
	// Identity tells callers apart, for their limits. It is never shown.
	Identity string
	// Subject is on whose behalf the gateway submits, as the cluster names people. Empty: the caller submits, with its own token.
	Subject string
	// Claims are those of a token that the gateway has verified; nil: it has verified none.
	Claims map[string]any
	// Until is when the token ends; zero: the gateway does not know.
	Until time.Time

	bearer string // what is passed on to the API server
}

// Authenticator says who sends a request, by its token.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (*Caller, *Problem)
}

// verified reports whether the gateway has verified the token itself, and so acts with its own rights.
func (c *Caller) verified() bool { return c.Claims != nil }

type callerKey struct{}

func callerOf(ctx context.Context) *Caller {
	caller, _ := ctx.Value(callerKey{}).(*Caller)
	return caller
}

// bearerToken returns the token of a request.
func bearerToken(request *http.Request) (string, *Problem) {
	scheme, token, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", refuseToken("send the header Authorization: Bearer, with a token")
	}
	return token, nil
}

func refuseToken(detail string) *Problem {
	p := problem(unauthenticated, detail)
	p.header.Set("WWW-Authenticate", "Bearer")
	return p
}

// PassThrough has the API server say who a caller is, and what they may do: their token is passed on to it.
type PassThrough struct{}

// Authenticate implements Authenticator.
func (PassThrough) Authenticate(_ context.Context, token string) (*Caller, *Problem) {
	sum := sha256.Sum256([]byte(token))
	return &Caller{Identity: hex.EncodeToString(sum[:]), bearer: token}, nil
}

// PassingThrough returns a config whose requests carry the token of the caller that they are made for, and nothing of
// the gateway's own.
func PassingThrough(config *rest.Config) *rest.Config {
	config = rest.AnonymousClientConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return bearing{next} })
	return config
}

type bearing struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bearing) RoundTrip(request *http.Request) (*http.Response, error) {
	if caller := callerOf(request.Context()); caller != nil {
		request = request.Clone(request.Context())
		request.Header.Set("Authorization", "Bearer "+caller.bearer)
	}
	return b.next.RoundTrip(request)
}
