package gateway

import (
	"crypto/sha256"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/time/rate"
	"k8s.io/utils/lru"
)

// unauthenticatedLimit bounds what tokens that nobody stands by may ask, by the address that they come from: each made-up token
// would have a limit of its own. Where the API server verifies tokens, looking at one is a request to it; those that it has accepted
// are not held up by what others do behind the same address.
type unauthenticatedLimit struct {
	failures *limits
	accepted *lru.Cache // digests of tokens
	// proxies are those whose word is taken for whom a request comes from.
	proxies []netip.Prefix
}

func newUnauthenticatedLimit(most rate.Limit, burst int, proxies []netip.Prefix) *unauthenticatedLimit {
	return &unauthenticatedLimit{failures: &limits{rate: most, burst: burst, callers: lru.New(maxCallers)}, accepted: lru.New(maxCallers), proxies: proxies}
}

// admit reports whether a request is looked at.
func (u *unauthenticatedLimit) admit(request *http.Request, token string) bool {
	if _, known := u.accepted.Get(sha256.Sum256([]byte(token))); known {
		return true
	}
	return u.failures.left(u.addressOf(request))
}

// learn takes note of how a request was answered. Only an answer that the token was needed for says that it is one; every
// other refusal of an unknown token counts, also that of a body which was too large or slow.
func (u *unauthenticatedLimit) learn(request *http.Request, token string, status int) {
	digest := sha256.Sum256([]byte(token))
	if status == http.StatusUnauthorized {
		u.accepted.Remove(digest)
	}
	if vouches(status) {
		u.accepted.Add(digest, nil)
		return
	}
	if _, known := u.accepted.Get(digest); !known && status < http.StatusInternalServerError {
		u.failures.allow(u.addressOf(request))
	}
}

// vouches reports whether an answer is one that the API server, or the issuer's keys, had a part in.
func vouches(status int) bool {
	switch status {
	case http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusFailedDependency:
		return true
	default:
		return status < http.StatusBadRequest
	}
}

// addressOf is whom a request comes from: of IPv6 the network, in which one host has any number of addresses.
func (u *unauthenticatedLimit) addressOf(request *http.Request) string {
	from, err := netip.ParseAddrPort(request.RemoteAddr)
	if err != nil {
		return request.RemoteAddr
	}
	address := u.behindProxies(from.Addr().Unmap(), request.Header.Values("X-Forwarded-For"))
	if address.Is6() {
		network, _ := address.Prefix(64)
		return network.String()
	}
	return address.String()
}

// behindProxies goes back along X-Forwarded-For, whose last address each proxy has added, to the first that is not of a
// trusted one: what is before it anybody can have written.
func (u *unauthenticatedLimit) behindProxies(address netip.Addr, lines []string) netip.Addr {
	hops := strings.Split(strings.Join(lines, ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !slices.ContainsFunc(u.proxies, func(p netip.Prefix) bool { return p.Contains(address) }) {
			break
		}
		before, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		address = before.Unmap()
	}
	return address
}
