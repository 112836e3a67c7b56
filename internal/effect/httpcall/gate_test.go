package httpcall

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"
)

// stub is a connection whose writes do what they are told to.
type stub struct {
	net.Conn
	write func(p []byte) (int, error)
}

func (s *stub) Write(p []byte) (int, error) { return s.write(p) }

func takesAll(p []byte) (int, error) { return len(p), nil }

func behind(g *gate, write func([]byte) (int, error)) *gatedConn {
	conn := &gatedConn{Conn: &stub{write: write}}
	conn.current.Store(g)
	return conn
}

func open(ctx context.Context) *gate {
	return &gate{ctx: ctx, deadline: time.Now().Add(time.Minute), now: time.Now, single: true}
}

func TestTheGate(t *testing.T) {
	stopping := errors.New("stopping")
	for _, c := range []struct {
		name, reason string
		prepare      func(g *gate)
		want         error
		sent         bool
	}{
		{"open", "what is in time may leave", func(*gate) {}, nil, true},
		{"shut", "after an outcome was reported, nothing may make it untrue", func(g *gate) { g.close() }, errShut, false},
		{"cancelled", "on shutdown nothing new leaves", func(g *gate) {
			ctx, cancel := context.WithCancelCause(g.ctx)
			cancel(stopping)
			g.ctx = ctx
		}, stopping, false},
		{"late", "hazard 5", func(g *gate) { g.now = func() time.Time { return g.deadline } }, errTooLate, false},
		{"sent on another connection", "the transport has no second try", func(g *gate) {
			_, _ = behind(g, takesAll).Write([]byte("x"))
		}, errTwice, true},
		{"failed on another connection", "not even after a try that came to nothing", func(g *gate) {
			_, _ = behind(g, func([]byte) (int, error) { return 0, stopping }).Write([]byte("x"))
		}, errTwice, false},
		{"begun on another connection, where that is allowed", "an idempotent receiver", func(g *gate) {
			g.single = false
			_, _ = behind(g, takesAll).Write([]byte("x"))
		}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := open(t.Context())
			c.prepare(g)
			_, err := behind(g, takesAll).Write([]byte("x"))
			if !errors.Is(err, c.want) || g.close() != c.sent {
				t.Errorf("%s: got the error %v and sent %t, want %v and %t", c.reason, err, !c.sent, c.want, c.sent)
			}
		})
	}
}

func TestWhatCountsAsSent(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		n    int
		err  error
		sent bool
	}{
		"all of it":  {3, nil, true},
		"some of it": {1, broken, true},
		"none of it": {0, broken, false},
	} {
		g := open(t.Context())
		_, _ = behind(g, func([]byte) (int, error) { return c.n, c.err }).Write([]byte("abc"))
		if got := g.close(); got != c.sent {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

// The outcome is reported while the write is still in the kernel: who knows how it ends.
func TestAWriteUnderWayCountsAsSent(t *testing.T) {
	g, closed := open(t.Context()), false
	_, _ = behind(g, func([]byte) (int, error) { closed = g.close(); return 0, errors.New("broken") }).Write([]byte("abc"))
	if !closed {
		t.Error("it was reported as not sent")
	}
}

func TestAConnectionThatNoGateStandsBefore(t *testing.T) {
	g := open(t.Context())
	g.assumeWritten()
	if near, far := net.Pipe(); gated(near) != nil || gated(far) != nil || !g.close() {
		t.Error("what cannot be watched is taken as sent")
	}
}
