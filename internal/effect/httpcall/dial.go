package httpcall

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"
)

// refusedAddress says that the operator does not dial an address.
type refusedAddress struct{ kind, flag string }

func (e *refusedAddress) Error() string {
	if e.flag == "" {
		return fmt.Sprintf("its address is %s, which is never called", e.kind)
	}
	return fmt.Sprintf("its address is %s, which is refused unless the operator runs with %s", e.kind, e.flag)
}

// guard decides which addresses may be dialled.
type guard struct{ loopback, linkLocal bool }

// metadata services of clouds that are not link-local. Sources: the documentation of AWS (IMDS over IPv6), Google
// Cloud (IPv6-only instances), Alibaba Cloud, Oracle Cloud Classic and Azure (wire server).
var metadata = map[netip.Addr]bool{
	netip.MustParseAddr("fd00:ec2::254"):   true,
	netip.MustParseAddr("fd20:ce::254"):    true,
	netip.MustParseAddr("100.100.100.200"): true,
	netip.MustParseAddr("192.0.0.192"):     true,
	netip.MustParseAddr("168.63.129.16"):   true,
}

var (
	thisNetwork = netip.MustParsePrefix("0.0.0.0/8")
	broadcast   = netip.MustParseAddr("255.255.255.255")
)

// check returns a *refusedAddress or nil. An IPv6 address is judged as it is, and by the IPv4 address in it.
func (g guard) check(address netip.Addr) error {
	address = address.WithZone("").Unmap()
	if err := g.checkOne(address); err != nil {
		return err
	}
	if inner, ok := embedded(address); ok {
		return g.checkOne(inner)
	}
	return nil
}

func (g guard) checkOne(address netip.Addr) error {
	switch {
	case address.IsLoopback():
		return unless(g.loopback, "loopback", "--allow-loopback-receivers")
	case address.IsUnspecified(), thisNetwork.Contains(address):
		return unless(g.loopback, "unspecified", "--allow-loopback-receivers")
	case address.IsLinkLocalUnicast():
		return unless(g.linkLocal, "link-local", "--allow-link-local-receivers")
	case metadata[address]:
		return unless(g.linkLocal, "that of a cloud's metadata service", "--allow-link-local-receivers")
	case address.IsMulticast(), address == broadcast:
		return &refusedAddress{kind: "multicast"}
	}
	return nil
}

func unless(allowed bool, kind, flag string) error {
	if allowed {
		return nil
	}
	return &refusedAddress{kind: kind, flag: flag}
}

// control refuses an address after it was resolved and before it is connected to, so that a name whose answer
// changes between a check and its use gains nothing.
func (g guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	resolved, err := netip.ParseAddrPort(address)
	if err != nil {
		return &refusedAddress{kind: "not an IP address"}
	}
	return g.check(resolved.Addr())
}

// dial connects to an address that the guard lets through; the connection stands behind gates.
func (c *client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: 30 * time.Second, ControlContext: c.guard.control, Resolver: c.resolver}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if c.dialled != nil {
		c.dialled()
	}
	return &gatedConn{Conn: conn}, nil
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// once lets a transport dial one time.
func once(dial dialFunc) dialFunc {
	var dialled atomic.Bool
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if dialled.Swap(true) {
			return nil, errTwice
		}
		return dial(ctx, network, address)
	}
}
