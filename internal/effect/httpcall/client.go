package httpcall

import (
	"context"
	"net/http"
	"time"

	"github.com/taskonce/taskonce/internal/effect"
)

// client is what all calls share: two transports, and the options.
type client struct {
	// fresh makes a new connection for each request and closes it after the answer.
	fresh http.RoundTripper
	// pooled reuses connections. Go's transport sends a request again when a reused one dies (net/http
	// persistConn.shouldRetryRequest), so it is for what causes nothing and for receivers that are idempotent.
	pooled http.RoundTripper
	reuse  bool
	now    func() time.Time
	limit  int64
	secret func(ctx context.Context, namespace, name, key string) (string, error)
}

func newClient(options Options) *client {
	c := &client{
		fresh: transport(options, false), pooled: transport(options, true),
		reuse: options.Unsafe.ReuseConnections,
		now:   options.now, limit: options.MaxResponseBytes, secret: options.Secret,
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.limit <= 0 {
		c.limit = DefaultMaxResponseBytes
	}
	if c.secret == nil {
		c.secret = noSecrets
	}
	return c
}

func noSecrets(_ context.Context, _, name, _ string) (string, error) {
	return "", effect.Missing("the Secret %q cannot be read: this operator reads none", name)
}

// transport returns a transport of HTTP/1.1: one request holds one connection, so what was written to it is what
// was sent of the request. A proxy from the environment is honoured; then the guard speaks of the proxy's address.
// Compression is not asked for: an answer is as large as it looks.
func transport(options Options, pooled bool) *http.Transport {
	guard := guard{loopback: options.AllowLoopback, linkLocal: options.AllowLinkLocal}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            guard.dialer(options.dialled),
		TLSClientConfig:        options.tls,
		TLSHandshakeTimeout:    30 * time.Second,
		Protocols:              protocols,
		DisableKeepAlives:      !pooled,
		DisableCompression:     true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
	}
}
