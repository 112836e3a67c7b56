package httpcall

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

// newHTTP2 is net/http's own server, which speaks HTTP/2 with whoever offers it.
func newHTTP2(t *testing.T, handler http.HandlerFunc) (url string, options Options) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	options = local()
	options.tls = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	options.tls.NextProtos = nil // what is offered is for the package to say
	return server.URL, options
}

func TestOverHTTP2(t *testing.T) {
	var requests atomic.Int32
	url, options := newHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if requests.Add(1); r.ProtoMajor != 2 || string(body) != `{"id":42}` || r.Header.Get("Idempotency-Key") != `"shop/award-42"` {
			t.Errorf("got %s with %q and %v", r.Proto, body, r.Header)
		}
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.WriteString(w, `{"ok":true}`)
	})
	outcome := executed(t, options, post(url))
	if outcome.Kind != applied || string(outcome.Result) != `{"ok":true}` || requests.Load() != 1 {
		t.Errorf("got %+v after %d requests", outcome, requests.Load())
	}
}

func TestAnEndlessBodyOverHTTP2(t *testing.T) {
	ended := make(chan struct{})
	url, options := newHTTP2(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		for {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
				return
			}
		}
	})
	outcome := executed(t, options, post(url))
	if outcome.Kind != applied || !strings.Contains(string(outcome.Result), `"truncated":true`) {
		t.Errorf("got %+v", outcome)
	}
	<-ended // the receiver is told to stop
}

func TestAHeaderBombOverHTTP2(t *testing.T) {
	url, options := newHTTP2(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Bomb", strings.Repeat("x", 1<<20))
		_, _ = io.WriteString(w, "{}")
	})
	if outcome := executed(t, options, post(url)); outcome.Kind != unknown {
		t.Errorf("got %+v", outcome)
	}
}

func TestTooLateOverHTTP2(t *testing.T) {
	var requests atomic.Int32
	url, options := newHTTP2(t, func(http.ResponseWriter, *http.Request) { requests.Add(1) })
	attempt := effecttest.NewAttempt(1)
	var late atomic.Bool
	options.dialled = func() { late.Store(true) }
	options.now = func() time.Time {
		if late.Load() {
			return attempt.Deadline
		}
		return time.Now()
	}
	outcome := execute(t, compiled(t, options, post(url)), attempt)
	if outcome.Kind != notApplied || requests.Load() != 0 || outcome.Message != "the deadline was over before the request could be sent; nothing was sent" {
		t.Errorf("got %+v after %d requests", outcome, requests.Load())
	}
}

// framer is a receiver that speaks HTTP/2 frame by frame, and counts the requests that it has seen.
type framer struct {
	listener net.Listener
	requests atomic.Int32
	// respond answers the request on a stream.
	respond func(f *http2.Framer, stream uint32)
}

func frames(t *testing.T, respond func(f *http2.Framer, stream uint32)) (*framer, Options) {
	t.Helper()
	server, trusting := secure(t)
	server.NextProtos = []string{"h2"}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", server)
	if err != nil {
		t.Fatal(err)
	}
	fr := &framer{listener: listener, respond: respond}
	serveConnections(t, listener, fr.converse)
	options := local()
	options.tls = trusting
	return fr, options
}

func (fr *framer) converse(conn net.Conn) {
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(conn, preface); err != nil {
		return
	}
	f := http2.NewFramer(conn, conn)
	_ = f.WriteSettings()
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = f.WriteSettingsAck()
			}
		case *http2.HeadersFrame:
			fr.requests.Add(1)
			if frame.StreamEnded() {
				fr.respond(f, frame.StreamID)
			}
		case *http2.DataFrame:
			if frame.StreamEnded() {
				fr.respond(f, frame.StreamID)
			}
		}
	}
}

// What HTTP/2 calls safe to send again is not sent again here: that is the lifecycle's to say, in an attempt that is
// stored before (I3). Go's transport by itself sends the first three again, over new connections, hundreds of times.
func TestHTTP2IsNotSentAgain(t *testing.T) {
	for name, respond := range map[string]func(f *http2.Framer, stream uint32){
		"REFUSED_STREAM":              reset(http2.ErrCodeRefusedStream),
		"PROTOCOL_ERROR":              reset(http2.ErrCodeProtocol),
		"GOAWAY that has not seen it": func(f *http2.Framer, _ uint32) { _ = f.WriteGoAway(0, http2.ErrCodeNo, nil) },
		"GOAWAY that has seen it": func(f *http2.Framer, stream uint32) {
			_ = f.WriteGoAway(stream, http2.ErrCodeNo, nil)
			reset(http2.ErrCodeInternal)(f, stream)
		},
		"half an answer": func(f *http2.Framer, stream uint32) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: status(200), EndHeaders: true})
			_ = f.WriteData(stream, false, []byte(`{"ok"`))
			reset(http2.ErrCodeCancel)(f, stream)
		},
	} {
		for kind, change := range map[string]func(*v1alpha1.TaskTemplateSpec){"a body": method("POST"), "no body": method("DELETE"), "idempotent": idempotent} {
			t.Run(name+", "+kind, func(t *testing.T) {
				fr, options := frames(t, respond)
				var dials atomic.Int32
				options.dialled = func() { dials.Add(1) }
				attempt := effecttest.NewAttempt(1) // whose deadline ends what would go on for ever
				outcome := execute(t, compiled(t, options, post("https://"+fr.listener.Addr().String(), change)), attempt)
				if outcome.Kind != unknown || fr.requests.Load() != 1 || dials.Load() != 1 || !strings.Contains(outcome.Message, "may have applied") {
					t.Errorf("got %+v after %d requests over %d connections, want Unknown after one", outcome, fr.requests.Load(), dials.Load())
				}
			})
		}
	}
}

func reset(code http2.ErrCode) func(*http2.Framer, uint32) {
	return func(f *http2.Framer, stream uint32) { _ = f.WriteRSTStream(stream, code) }
}

func status(code int) []byte {
	var block bytes.Buffer
	_ = hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: strconv.Itoa(code)})
	return block.Bytes()
}

func TestATransportDialsOnce(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	dial := once(func(context.Context, string, string) (net.Conn, error) { return near, nil })
	if conn, err := dial(t.Context(), "tcp", ""); err != nil || conn == nil {
		t.Errorf("got %v", err)
	}
	if _, err := dial(t.Context(), "tcp", ""); !errors.Is(err, errTwice) {
		t.Errorf("a second dial: %v", err)
	}
}
