package httpcall

import (
	"net/netip"
	"strings"
	"testing"
)

func TestWhichAddressesAreDialled(t *testing.T) {
	const never, always = "never", "always"
	for address, want := range map[string]string{
		"10.0.0.1": always, "192.168.1.1": always, "203.0.113.7": always, "2001:db8::1": always, "fd12::1": always, "64:ff9b::cb00:7107": always,
		"127.0.0.1": "--allow-loopback-receivers", "127.255.0.9": "--allow-loopback-receivers", "::1": "--allow-loopback-receivers",
		"::ffff:127.0.0.1": "--allow-loopback-receivers", "64:ff9b::7f00:1": "--allow-loopback-receivers",
		"0.0.0.0": "--allow-loopback-receivers", "0.1.2.3": "--allow-loopback-receivers", "::": "--allow-loopback-receivers",
		"169.254.169.254": "--allow-link-local-receivers", "fe80::1%eth0": "--allow-link-local-receivers",
		"::ffff:169.254.169.254": "--allow-link-local-receivers", "64:ff9b::a9fe:a9fe": "--allow-link-local-receivers",
		"fd00:ec2::254": "--allow-link-local-receivers", "100.100.100.200": "--allow-link-local-receivers",
		"224.0.0.1": never, "239.1.1.1": never, "ff02::1": never, "255.255.255.255": never,
	} {
		parsed := netip.MustParseAddr(address)
		refused := (guard{}).check(parsed)
		if (refused == nil) != (want == always) || (want != always && want != never && !strings.Contains(refused.Error(), want)) {
			t.Errorf("%s: got %v, want %s", address, refused, want)
		}
		allowed := guard{loopback: want == "--allow-loopback-receivers", linkLocal: want == "--allow-link-local-receivers"}
		if err := allowed.check(parsed); (err == nil) != (want != never) {
			t.Errorf("%s with %s: got %v", address, want, err)
		}
		if other := (guard{loopback: !allowed.loopback, linkLocal: !allowed.linkLocal}); want != always && other.check(parsed) == nil {
			t.Errorf("%s is let through by the other flag", address)
		}
	}
}

func TestWhatIsNoAddressIsNotDialled(t *testing.T) {
	if err := (guard{}).control(t.Context(), "tcp", "receiver.example:80", nil); err == nil {
		t.Error("a name got through")
	}
}
