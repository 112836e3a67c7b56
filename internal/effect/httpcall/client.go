package httpcall

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/taskonce/taskonce/internal/effect"
)

// client is what all calls share: the options with their defaults, and what follows from them.
type client struct {
	Options
	guard guard
	// proxy returns the proxy for a URL, or nil: HTTP_PROXY, HTTPS_PROXY and NO_PROXY as they were at the start.
	proxy func(*url.URL) (*url.URL, error)
	// reused is set where a protection is switched off, and nil otherwise.
	reused http.RoundTripper
}

func newClient(options Options) *client {
	c := &client{
		Options: options, guard: guard{loopback: options.AllowLoopback, linkLocal: options.AllowLinkLocal},
		proxy: httpproxy.FromEnvironment().ProxyFunc(),
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.MaxResponseBytes <= 0 {
		c.MaxResponseBytes = DefaultMaxResponseBytes
	}
	if c.Secret == nil {
		c.Secret = noSecrets
	}
	if options.Unsafe.ReuseConnections {
		c.reused = &http.Transport{DialContext: c.dial, MaxIdleConnsPerHost: 16, IdleConnTimeout: 30 * time.Second}
	}
	return c
}

func noSecrets(_ context.Context, _, name string) (map[string][]byte, error) {
	return nil, effect.Missing("the Secret %q cannot be read: this operator reads none", name)
}

// forOneRequest returns the client with Secrets that stay as they are read first.
func (c *client) forOneRequest() *client {
	one := *c
	one.Secret = c.Secret.Once()
	return &one
}

// transport returns a transport for one request, which dials once. So nothing can send the request a second time: Go's
// transport does that by itself when a reused connection of HTTP/1.1 dies under a request with an Idempotency-Key
// (hazard 6), and after a GOAWAY or a REFUSED_STREAM of HTTP/2. Compression is not asked for: an answer is as large as
// it looks.
func (c *client) transport(w *way, at *stage) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	return &http.Transport{
		Proxy:                  c.proxied(at),
		OnProxyConnectResponse: at.tunnelled,
		DialContext:            once(c.dial),
		TLSClientConfig:        w.tls,
		TLSHandshakeTimeout:    30 * time.Second,
		Protocols:              protocols,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 256 << 10,
	}
}
