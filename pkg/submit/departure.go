package submit

import (
	"context"
	"net/http"
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

// unsentError says that a request never left this process: for want of credentials, or of its turn.
type unsentError struct{ err error }

func (e *unsentError) Error() string { return e.err.Error() }

func (e *unsentError) Unwrap() error { return e.err }
