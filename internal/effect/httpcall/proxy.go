package httpcall

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
)

// proxied says which proxy a request goes through. Behind one, the guard's check of the dialled address is about the
// proxy; so a receiver that is named by its address is checked here, and one that is named by a host name is left to
// the proxy, which resolves it.
func (c *client) proxied(at *stage) func(*http.Request) (*url.URL, error) {
	return func(request *http.Request) (*url.URL, error) {
		proxy, err := c.proxy(request.URL)
		if err != nil || proxy == nil {
			return nil, err
		}
		if address, err := netip.ParseAddr(request.URL.Hostname()); err == nil {
			if err := c.guard.check(address); err != nil {
				return nil, err
			}
		}
		at.proxy.Store(true)
		return proxy, nil
	}
}

// tunnelled notes what a proxy answered to CONNECT. Anything but 200 ends the request before it is sent.
func (s *stage) tunnelled(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode != http.StatusOK {
		s.connect.Store(int64(answer.StatusCode))
	}
	return nil
}
