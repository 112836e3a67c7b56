package effecttest

import (
	"net"
	"testing"
)

// ClosedAddress returns an address of this machine that refuses connections until the test ends. It is that of a connection's
// own end, so that nobody else is given it meanwhile, as a port that was listened on before might be.
func ClosedAddress(t *testing.T) *net.TCPAddr {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	taken, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	return taken.LocalAddr().(*net.TCPAddr)
}
