package httpcall

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
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
		"fd00:ec2::254": "--allow-link-local-receivers", "fd00:ec2::254%eth0": "--allow-link-local-receivers", "100.100.100.200": "--allow-link-local-receivers",
		"::ffff:0:7f00:1": "--allow-loopback-receivers", "::7f00:1": "--allow-loopback-receivers", "2002:7f00:1::1": "--allow-loopback-receivers",
		"64:ff9b:1::7f00:1": "--allow-loopback-receivers", "2001::80ff:fffe": "--allow-loopback-receivers", "2001:db8::5efe:127.0.0.1": "--allow-loopback-receivers",
		"2001:db8::200:5efe:127.0.0.1": "--allow-loopback-receivers", "2002:a9fe:a9fe::": "--allow-link-local-receivers", "fe80::5efe:10.0.0.1": "--allow-link-local-receivers",
		"::169.254.169.254": "--allow-link-local-receivers", "2002:e000:1::": never, "64:ff9b::e000:1": never,
		"2002:a00:1::1": always, "2001::f5ff:fffe": always, "::10.0.0.1": always, "64:ff9b:1::a00:1": always, "2001:db8::5efe:10.0.0.1": always,
		"100.64.0.1": always, "fec0::1": always, "240.0.0.1": always,
		"224.0.0.1": never, "ff01::1": never, "ff0e::1": never, "239.1.1.1": never, "ff02::1": never, "255.255.255.255": never,
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

// A name that resolves to a harmless address for whoever checks it, and to loopback for whoever dials.
func TestANameThatResolvesToLoopbackTheSecondTime(t *testing.T) {
	var rebound atomic.Bool
	resolver := resolving(t, func() [4]byte {
		if rebound.Load() {
			return [4]byte{127, 0, 0, 1}
		}
		return [4]byte{203, 0, 113, 7}
	})
	checked, err := resolver.LookupNetIP(t.Context(), "ip4", "rebinds.example")
	if err != nil || len(checked) != 1 || (guard{}).check(checked[0]) != nil {
		t.Fatalf("the first look-up is harmless: got %v and %v", checked, err)
	}
	rebound.Store(true)
	r := receive(t, says(200, "{}"))
	outcome := executed(t, Options{resolver: resolver}, post(strings.Replace(r.url(), "127.0.0.1", "rebinds.example", 1)))
	if outcome.Kind != notApplied || outcome.Permanent || !strings.Contains(outcome.Message, "--allow-loopback-receivers") || r.count() != 0 {
		t.Errorf("the address that is dialled counts: got %+v after %d requests", outcome, r.count())
	}
}

// resolving returns a resolver whose server answers with the address that answer returns, for names of IPv4.
func resolving(t *testing.T, answer func() [4]byte) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = server.Close(); <-done })
	go func() {
		defer close(done)
		buffer := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(buffer)
			if err != nil {
				return
			}
			_, _ = server.WriteTo(resolved(buffer[:n], answer), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

func resolved(raw []byte, answer func() [4]byte) []byte {
	var message dnsmessage.Message
	if message.Unpack(raw) != nil {
		return nil
	}
	message.Response, message.Additionals = true, nil
	if question := message.Questions[0]; question.Type == dnsmessage.TypeA {
		message.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class},
			Body:   &dnsmessage.AResource{A: answer()},
		}}
	}
	packed, _ := message.Pack()
	return packed
}
