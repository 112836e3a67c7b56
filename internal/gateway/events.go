package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/pkg/submit"
)

type followInput struct {
	Namespace string `path:"namespace" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	Name      string `path:"name" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	LastID    string `header:"Last-Event-ID" doc:"The id of the last event that was seen: what it said is not said again."`
}

// follow answers with the states of a submission, from what it is now to its end. A connection that was cut is taken up
// again with Last-Event-ID; after the last event there is nothing more to say, which is 204, so that a browser's
// EventSource does not ask again.
func (g *Gateway) follow(ctx context.Context, in *followInput) (*huma.StreamResponse, error) {
	name := client.ObjectKey{Namespace: in.Namespace, Name: in.Name}
	found, wrong := g.read(ctx, name)
	if wrong != nil {
		return nil, wrong
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		_, writer := humago.Unwrap(ctx)
		if found.Status.Phase.Terminal() && found.ResourceVersion == in.LastID {
			writer.WriteHeader(http.StatusNoContent)
			return
		}
		if ctx.Method() == http.MethodHead { // nothing follows, so no connection is held for it
			eventHeader(writer.Header())
			return
		}
		caller := callerOf(ctx.Context()).Identity
		if !g.open.enter(caller, 1, g.Streams, 0) {
			write(writer, problem(tooMany, "this caller holds as many connections for events as it may: close one").later())
			return
		}
		defer g.open.leave(caller, 1)
		streams.Inc()
		defer streams.Dec()
		g.stream(ctx.Context(), &stream{writer: writer, patience: 2 * g.Heartbeat, control: http.NewResponseController(writer), lastID: in.LastID}, found)
	}}, nil
}

// stream writes until the submission has finished, the reader is gone or does not read, its token or its time has
// ended, or the process is to end.
func (g *Gateway) stream(ctx context.Context, s *stream, found *v1alpha1.TaskSubmission) {
	ctx, cancel := g.unlessStopping(ctx)
	defer cancel()
	ctx, cancelLife := context.WithDeadline(ctx, g.endOf(callerOf(ctx)))
	defer cancelLife()
	seen := make(chan *v1alpha1.TaskSubmission)
	gone := make(chan bool, 1)
	go func() {
		defer close(seen)
		_, err := g.Client.Follow(ctx, client.ObjectKeyFromObject(found), func(now *v1alpha1.TaskSubmission) bool {
			if owner(now) != owner(found) && g.readable(ctx, callerOf(ctx), now) != nil {
				return true // it shows somebody else's outcome now: who asks again is told so
			}
			select {
			case seen <- now.DeepCopy():
			case <-ctx.Done():
			}
			return now.Status.Phase.Terminal()
		})
		var deleted *submit.GoneError
		gone <- errors.As(err, &deleted)
	}()
	s.open()
	s.write(ctx, seen, g.Heartbeat)
	cancel()
	if <-gone {
		s.event("", "gone", []byte("{}"))
	}
}

// endOf is when a connection that is opened now is closed at the latest.
func (g *Gateway) endOf(caller *Caller) time.Time {
	end := time.Now().Add(g.StreamLife)
	if until := caller.Until; !until.IsZero() && until.Before(end) {
		return until
	}
	return end
}

// stream is one connection.
type stream struct {
	writer  http.ResponseWriter
	control *http.ResponseController
	// patience is how long a reader may take to read.
	patience time.Duration
	lastID   string
	last     []byte // what was said last
	err      error
}

func (s *stream) open() {
	eventHeader(s.writer.Header())
	s.writer.WriteHeader(http.StatusOK)
	s.send(": what follows is the submission, each time that it changes\n\n")
}

func eventHeader(header http.Header) {
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // proxies that buffer answers would keep it back
}

func (s *stream) write(ctx context.Context, seen <-chan *v1alpha1.TaskSubmission, heartbeat time.Duration) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for s.err == nil {
		select {
		case now, more := <-seen:
			if !more {
				return
			}
			s.show(now)
		case <-beat.C:
			s.send(": still here\n\n")
		case <-ctx.Done():
			return
		}
	}
}

// show writes a submission, unless the reader has seen it so.
func (s *stream) show(now *v1alpha1.TaskSubmission) {
	said, err := json.Marshal(viewOf(now))
	if err != nil {
		s.err = err
		return
	}
	if known := now.ResourceVersion == s.lastID; !known && !bytes.Equal(said, s.last) {
		s.event(now.ResourceVersion, "submission", said)
	}
	s.last = said
}

func (s *stream) event(id, kind string, data []byte) {
	if id != "" {
		s.send("id: " + id + "\n")
	}
	s.send(fmt.Sprintf("event: %s\ndata: %s\n\n", kind, data))
}

func (s *stream) send(text string) {
	if s.err == nil {
		_ = s.control.SetWriteDeadline(time.Now().Add(s.patience))
		_, s.err = s.writer.Write([]byte(text))
	}
	if s.err == nil {
		s.err = s.control.Flush()
	}
}
