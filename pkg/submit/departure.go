package submit

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// departed is the key of a context's *atomic.Bool: whether a request was handed to what sends it.
type departed struct{}

// doorkeeper notes each request that leaves. It is below all that can fail on this side, such as a program that is to
// give credentials.
type doorkeeper struct{ next http.RoundTripper }

func (d doorkeeper) RoundTrip(request *http.Request) (*http.Response, error) {
	if left, ok := request.Context().Value(departed{}).(*atomic.Bool); ok {
		left.Store(true)
	}
	return d.next.RoundTrip(request)
}

// watched returns a config whose requests are noted as they leave.
func watched(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	before := config.WrapTransport
	config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		next = doorkeeper{next}
		if before != nil {
			next = before(next)
		}
		return next
	}
	return config
}

// departure returns a context for one request, and what tells whether it has left. Where nobody takes note, it may have.
func (c *Client) departure(ctx context.Context) (context.Context, func() bool) {
	if !c.watched {
		return ctx, func() bool { return true }
	}
	left := &atomic.Bool{}
	return context.WithValue(ctx, departed{}, left), left.Load
}

// unsent says why a request never left.
func unsent(err error) error {
	err = &unsentError{err}
	var request *url.Error
	if errors.As(err, &request) && strings.HasPrefix(request.Err.Error(), noCredentials) {
		return &CredentialsError{Err: err}
	}
	return err
}

// noCredentials is how client-go begins what it says of a credential plugin that failed. It has no type for it.
const noCredentials = "getting credentials: "

// lacksCredentials reports whether a request never left for want of them.
func lacksCredentials(err error) bool {
	var lacking *CredentialsError
	return errors.As(err, &lacking)
}

// unsentError says that a request never left this process: for want of credentials, or of its turn.
type unsentError struct{ err error }

func (e *unsentError) Error() string { return e.err.Error() }

func (e *unsentError) Unwrap() error { return e.err }
