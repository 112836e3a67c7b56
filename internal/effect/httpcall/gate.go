package httpcall

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/taskonce/taskonce/internal/effect"
)

var (
	errTooLate = errors.New("the deadline is over")
	errShut    = errors.New("the attempt has ended")
	errTwice   = errors.New("the request was already sent on another connection")
)

// gate stands between one request and the wire. It answers two questions that a context's timer and an error's
// text cannot: may these bytes still leave (a process that was stopped between dialling and writing wakes after its
// deadline, and its timers have not fired yet: hazard 5), and did any leave.
type gate struct {
	ctx      context.Context
	deadline time.Time
	now      func() time.Time
	// single says that the request may leave on one connection only, whatever the transport would like.
	single bool

	mu      sync.Mutex
	shut    bool
	holder  *gatedConn
	writing int
	written int64
	// refusal is why a write was not permitted, for messages.
	refusal error
}

// permit asks to write to conn. The clock is compared at each write, the first and those of a long body.
func (g *gate) permit(conn *gatedConn) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.refuses(conn); err != nil {
		g.refusal = err
		return err
	}
	g.holder = conn
	g.writing++
	return nil
}

func (g *gate) refuses(conn *gatedConn) error {
	switch {
	case g.shut:
		return errShut
	case g.ctx.Err() != nil:
		return context.Cause(g.ctx)
	case g.single && g.holder != nil && g.holder != conn:
		return errTwice
	case effect.Over(g.now(), g.deadline):
		return errTooLate
	}
	return nil
}

// refused returns why a write was not permitted, or nil.
func (g *gate) refused() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refusal
}

// wrote reports the end of a permitted write.
func (g *gate) wrote(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writing--
	g.written += int64(n)
}

// assumeWritten is for a connection that no gate stands before.
func (g *gate) assumeWritten() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.written++
}

// close lets nothing more leave, and reports whether anything did or may have. After it has reported false, nothing
// of the request can reach the receiver.
func (g *gate) close() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
	return g.written > 0 || g.writing > 0
}

// gatedConn is a connection whose writes are those of the request that holds it. What is written before a request
// has it (a TLS handshake, a proxy's CONNECT) passes. It hides the ReadFrom of TCP connections on purpose: every
// byte goes through Write.
type gatedConn struct {
	net.Conn
	current atomic.Pointer[gate]
}

func (c *gatedConn) Write(p []byte) (int, error) {
	g := c.current.Load()
	if g == nil {
		return c.Conn.Write(p)
	}
	if err := g.permit(c); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	g.wrote(n)
	return n, err
}

// gated finds the gatedConn below the TLS layers of a connection, or nil.
func gated(conn net.Conn) *gatedConn {
	for {
		switch c := conn.(type) {
		case *gatedConn:
			return c
		case *tls.Conn:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}
