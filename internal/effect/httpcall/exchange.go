package httpcall

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
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

// stage is how far a request came; for messages only.
type stage struct{ tls, connected atomic.Bool }

// exchange sends one request and reads its answer. Exactly one of the answer and the failure is nil. With single
// the request goes over a connection of its own, and leaves on that one only. No redirect is followed, and nothing
// leaves after the deadline.
func (c *client) exchange(ctx context.Context, request *http.Request, deadline time.Time, single bool) (*answer, *failure) {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	g := &gate{ctx: ctx, deadline: deadline, now: c.now, single: single && !c.reuse}
	defer g.close()
	if over(c.now(), deadline) {
		return nil, explain(ctx, errTooLate, g, &stage{})
	}
	at := &stage{}
	response, err := c.transport(single).RoundTrip(request.WithContext(watch(ctx, g, at)))
	if err != nil {
		return nil, explain(ctx, err, g, at)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, c.limit+1))
	if err != nil {
		return nil, explain(ctx, errors.Join(errCut, err), g, at)
	}
	truncated := int64(len(body)) > c.limit
	if truncated {
		body = body[:c.limit]
	}
	return &answer{
		status: response.StatusCode, header: response.Header, body: body, truncated: truncated, url: request.URL,
	}, nil
}

func (c *client) transport(single bool) http.RoundTripper {
	if single && !c.reuse {
		return c.fresh
	}
	return c.pooled
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
