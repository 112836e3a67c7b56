package httpcall

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/taskonce/taskonce/internal/effect"
)

// answer is a full answer: its status, its headers, and its body up to the limit.
type answer struct {
	status    int
	header    http.Header
	body      []byte
	truncated bool
	// url is the one that was asked.
	url *url.URL
}

// way is how one request goes.
type way struct {
	// deadline is when nothing may leave any more.
	deadline time.Time
	// tls holds what is trusted and shown; nil: the system's authorities, and nothing.
	tls *tls.Config
	// field is where the template describes the request, for messages.
	field string
}

// stage is how far a request came; for messages only.
type stage struct {
	field                 string
	proxy, tls, connected atomic.Bool
	// connect is what a proxy answered to CONNECT, where that was no 200.
	connect atomic.Int64
}

// exchange sends one request, at most once, over a connection of its own, and reads its answer. Exactly one of the
// answer and the failure is nil. No redirect is followed, and nothing leaves after the deadline.
func (c *client) exchange(ctx context.Context, request *http.Request, w *way) (*answer, *failure) {
	ctx, cancel := context.WithDeadline(ctx, w.deadline)
	defer cancel()
	g := &gate{ctx: ctx, deadline: w.deadline, now: c.now, single: c.reused == nil}
	defer g.close()
	at := &stage{field: w.field}
	if effect.Over(c.now(), w.deadline) {
		return nil, explain(ctx, errTooLate, g, at)
	}
	response, err := c.roundTrip(request.WithContext(watch(ctx, g, at)), w, at)
	if err != nil {
		return nil, explain(ctx, err, g, at)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, c.MaxResponseBytes+1))
	if err != nil {
		return nil, explain(ctx, errors.Join(errCut, err), g, at)
	}
	truncated := int64(len(body)) > c.MaxResponseBytes
	if truncated {
		body = body[:c.MaxResponseBytes]
	}
	return &answer{
		status: response.StatusCode, header: response.Header, body: body, truncated: truncated, url: request.URL,
	}, nil
}

func (c *client) roundTrip(request *http.Request, w *way, at *stage) (*http.Response, error) {
	if c.reused != nil {
		return c.reused.RoundTrip(request)
	}
	return c.transport(w, at).RoundTrip(request)
}

// watch puts the gate before whatever connection the transport gives the request, before it writes to it.
func watch(ctx context.Context, g *gate, at *stage) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeStart: func() { at.tls.Store(true) },
		GotConn: func(info httptrace.GotConnInfo) {
			at.connected.Store(true)
			if conn := gated(info.Conn); conn != nil {
				conn.current.Store(g)
				return
			}
			g.assumeWritten() // it cannot be watched
		},
	})
}
