package gateway

import (
	"crypto/sha256"
	"net/http"
	"net/netip"

	"golang.org/x/time/rate"
	"k8s.io/utils/lru"
)

// strangers bounds what tokens that nobody stands by may ask, by the address that they come from: each made-up token would
// have a limit of its own. Tokens that were accepted are not held up by what others do behind the same address.
type strangers struct {
	failures *limits
	accepted *lru.Cache // digests of tokens
}

func newStrangers(most rate.Limit, burst int) *strangers {
	return &strangers{failures: &limits{rate: most, burst: burst, callers: lru.New(maxCallers)}, accepted: lru.New(maxCallers)}
}

// admit reports whether a request is looked at.
func (s *strangers) admit(request *http.Request, token string) bool {
	if _, known := s.accepted.Get(sha256.Sum256([]byte(token))); known {
		return true
	}
	return s.failures.left(addressOf(request))
}

// learn takes note of how a request was answered. Only an answer that the token was needed for says that it is one.
func (s *strangers) learn(request *http.Request, token string, status int) {
	digest := sha256.Sum256([]byte(token))
	switch {
	case status == http.StatusUnauthorized:
		s.accepted.Remove(digest)
		s.failures.allow(addressOf(request))
	case status < http.StatusBadRequest, status == http.StatusForbidden, status == http.StatusNotFound, status == http.StatusConflict:
		s.accepted.Add(digest, nil)
	case status == http.StatusBadRequest:
		if _, known := s.accepted.Get(digest); !known {
			s.failures.allow(addressOf(request))
		}
	}
}

// addressOf is whom a request comes from: of IPv6 the network, in which one host has any number of addresses.
func addressOf(request *http.Request) string {
	from, err := netip.ParseAddrPort(request.RemoteAddr)
	if err != nil {
		return request.RemoteAddr
	}
	address := from.Addr().Unmap()
	if address.Is6() {
		network, _ := address.Prefix(64)
		return network.String()
	}
	return address.String()
}
