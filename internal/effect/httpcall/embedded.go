package httpcall

import (
	"net/netip"
)

// Prefixes under which the last four bytes of an IPv6 address are an IPv4 address. A gateway or the host itself sends
// what is sent to the one to the other.
var embedding = []netip.Prefix{
	netip.MustParsePrefix("::/96"),           // IPv4-compatible, RFC 4291 2.5.5.1 (deprecated)
	netip.MustParsePrefix("::ffff:0:0:0/96"), // IPv4-translated, RFC 2765
	netip.MustParsePrefix("64:ff9b::/96"),    // NAT64, RFC 6052
	netip.MustParsePrefix("64:ff9b:1::/48"),  // NAT64 of local use, RFC 8215; with a /96 of it, as is usual
}

var (
	sixToFour = netip.MustParsePrefix("2002::/16") // RFC 3056
	teredo    = netip.MustParsePrefix("2001::/32") // RFC 4380
)

// embedded returns the IPv4 address that an IPv6 address stands for, where there is one.
func embedded(address netip.Addr) (netip.Addr, bool) {
	if !address.Is6() {
		return address, false
	}
	raw := address.As16()
	last := [4]byte(raw[12:])
	switch {
	case sixToFour.Contains(address):
		return netip.AddrFrom4([4]byte(raw[2:6])), true
	case teredo.Contains(address):
		return netip.AddrFrom4([4]byte{^last[0], ^last[1], ^last[2], ^last[3]}), true
	case raw[8]&^2 == 0 && raw[9] == 0 && raw[10] == 0x5e && raw[11] == 0xfe: // ISATAP, RFC 5214
		return netip.AddrFrom4(last), true
	}
	for _, prefix := range embedding {
		if prefix.Contains(address) {
			return netip.AddrFrom4(last), true
		}
	}
	return address, false
}
