package httpcall

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

// A warm connection dies after it has taken the second attempt's request. Whether the transport sends it again must
// depend on nothing but the switch.
func TestAWarmConnectionThatDies(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		options      Options
		change       func(*v1alpha1.TaskTemplateSpec)
		requests     int
		want         v1alpha1.Outcome
	}{
		{
			name: "not idempotent", reason: "no connection is reused, so nothing is sent again (hazard 6)",
			options: local(), change: method("POST"), requests: 2, want: v1alpha1.OutcomeUnknown,
		},
		{
			name: "not idempotent, without a body", reason: "dropping GetBody would not have helped here",
			options: local(), change: method("DELETE"), requests: 2, want: v1alpha1.OutcomeUnknown,
		},
		{
			name: "switched off", reason: "the hazard is real: net/http sends it again by itself",
			options: Options{AllowLoopback: true, Unsafe: Unsafe{ReuseConnections: true}},
			change:  method("POST"), requests: 3, want: v1alpha1.OutcomeApplied,
		},
		{
			name: "idempotent", reason: "sending it again is the lifecycle's to say, as an attempt of its own",
			options: local(), change: idempotent, requests: 2, want: v1alpha1.OutcomeUnknown,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := receive(t, func(n int, _ seen, w io.Writer) bool {
				if n == 2 {
					return false
				}
				write(w, 200, "{}")
				return true
			})
			one := compiled(t, c.options, post(r.url(), c.change))
			if warm := execute(t, one, effecttest.NewAttempt(1)); warm.Kind != v1alpha1.OutcomeApplied {
				t.Fatalf("warming up: %+v", warm)
			}
			outcome := execute(t, one, effecttest.NewAttempt(2))
			if outcome.Kind != c.want || r.count() != c.requests {
				t.Errorf("%s: got %s after %d requests, want %s after %d", c.reason, outcome.Kind, r.count(), c.want, c.requests)
			}
		})
	}
}

func TestNothingWasSent(t *testing.T) {
	refused := func(t *testing.T) string { return "http://" + effecttest.ClosedAddress(t).String() }
	for _, c := range []struct {
		name, reason string
		url          func(t *testing.T) string
		options      Options
		message      string
	}{
		{"nothing listens", "a refused connection carried nothing", refused, local(), "the receiver refused the connection"},
		{"no such host", "a name that does not resolve has no address to send to",
			func(*testing.T) string { return "http://receiver.invalid/" }, local(), "host name"},
		{"TLS handshake fails", "the request is written only after the handshake",
			plainBehindHTTPS, local(), "the TLS handshake with the receiver failed"},
		{"TLS certificate not trusted", "a stranger gets no request",
			untrusted, local(), "signed by an authority that is not trusted; name that authority's certificate in spec.effect.http.tls.ca"},
		{"the connection is closed in the TLS handshake", "the request is written only after the handshake",
			hangUp, local(), "the TLS handshake with the receiver failed"},
		{"loopback", "refused unless a flag allows it", refused, Options{}, "--allow-loopback-receivers"},
		{"loopback by name", "the address that is dialled counts, not the name",
			func(t *testing.T) string { return strings.Replace(refused(t), "127.0.0.1", "localhost", 1) }, Options{}, "--allow-loopback-receivers"},
		{"loopback in IPv6 clothes", "an IPv4 address inside an IPv6 one is that address",
			func(t *testing.T) string { return strings.Replace(refused(t), "127.0.0.1", "[::ffff:127.0.0.1]", 1) }, Options{}, "--allow-loopback-receivers"},
		{"cloud metadata", "it hands out the node's credentials",
			func(*testing.T) string { return "http://169.254.169.254/latest/meta-data/" }, local(), "link-local"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, change := range []func(*v1alpha1.TaskTemplateSpec){method("POST"), idempotent} {
				outcome := executed(t, c.options, post(c.url(t), change))
				if outcome.Kind != v1alpha1.OutcomeNotApplied || outcome.Permanent || !strings.Contains(outcome.Message, c.message) {
					t.Errorf("%s: got %+v, want NotApplied, to be tried again, with %q", c.reason, outcome, c.message)
				}
				if !strings.HasSuffix(outcome.Message, "; nothing was sent") || strings.Contains(outcome.Message, "127.0.0.1:") {
					t.Errorf("the message %q should say that nothing was sent, and name no port", outcome.Message)
				}
			}
		})
	}
}

func plainBehindHTTPS(t *testing.T) string {
	r := receive(t, nil)
	r.accepted = func(conn net.Conn) bool { _, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")); return false }
	return "https://" + r.listener.Addr().String()
}

func untrusted(t *testing.T) string {
	r := receive(t, nil)
	server, _ := secure(t)
	r.accepted = func(conn net.Conn) bool { _ = tls.Server(conn, server).Handshake(); return false }
	return "https://" + r.listener.Addr().String()
}

func hangUp(t *testing.T) string {
	r := receive(t, nil)
	r.accepted = func(net.Conn) bool { return false }
	return "https://" + r.listener.Addr().String()
}

func TestSentWithoutAFullAnswer(t *testing.T) {
	raw := func(text string) func(int, seen, io.Writer) bool {
		return func(_ int, _ seen, w io.Writer) bool { _, _ = io.WriteString(w, text); return false }
	}
	for _, c := range []struct {
		name, reason string
		respond      func(int, seen, io.Writer) bool
		message      string
	}{
		{"dropped after reading", "it may have been applied", drops, "the connection ended before the receiver answered"},
		{"half a status line", "that is no answer", raw("HTTP/1.1 20"), "it may have applied"},
		{"half the headers", "that is no answer", raw("HTTP/1.1 200 OK\r\nContent-Le"), "it may have applied"},
		{"half a body", "an answer that was cut may have said more", raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{\"a"), "cut short"},
		{"half a refusal", "cut is cut, whatever the status", raw("HTTP/1.1 422 No\r\nContent-Length: 10\r\n\r\n{\"a"), "cut short"},
		{"half a chunk", "the length of a chunked body is known at its end",
			raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a"), "cut short"},
		{"not HTTP", "who knows what that was", raw("SSH-2.0-OpenSSH_9.6\r\n"), "could not be read"},
		{"two lengths", "an answer that contradicts itself", raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"), "could not be read"},
		{"endless headers", "reading stops", raw("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20)), "it may have applied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := receive(t, c.respond)
			outcome := executed(t, local(), post(r.url()))
			if outcome.Kind != v1alpha1.OutcomeUnknown || !strings.Contains(outcome.Message, c.message) || r.count() != 1 {
				t.Errorf("%s: got %+v after %d requests, want Unknown with %q", c.reason, outcome, r.count(), c.message)
			}
			if !strings.Contains(outcome.Message, "may have applied") {
				t.Errorf("the message %q does not say what is open", outcome.Message)
			}
		})
	}
}

func TestDroppedBeforeReading(t *testing.T) {
	r := receive(t, nil)
	r.accepted = func(conn net.Conn) bool {
		one := make([]byte, 1)
		_, _ = conn.Read(one) // so that the request has left
		return false
	}
	if outcome := executed(t, local(), post(r.url())); outcome.Kind != v1alpha1.OutcomeUnknown {
		t.Errorf("the sender cannot know how much was read: got %+v", outcome)
	}
}

// The deadline is a real one here, and it is the only thing that ends the wait.
func TestASlowAnswer(t *testing.T) {
	for _, c := range []struct{ name, first string }{
		{"no answer", ""},
		{"a body that does not end", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r *receiver
			var outcome effect.Outcome
			// A machine that is busy may not have sent it by then.
			for left := 200 * time.Millisecond; (r == nil || r.count() == 0) && left < time.Minute; left *= 4 {
				r = receive(t, func(_ int, _ seen, w io.Writer) bool {
					_, _ = io.WriteString(w, c.first)
					<-t.Context().Done()
					return false
				})
				attempt := effecttest.NewAttempt(1)
				attempt.Deadline = time.Now().Add(left)
				outcome = execute(t, compiled(t, local(), post(r.url())), attempt)
			}
			if outcome.Kind != v1alpha1.OutcomeUnknown || !strings.Contains(outcome.Message, "before the deadline") || r.count() != 1 {
				t.Errorf("got %+v after %d requests", outcome, r.count())
			}
		})
	}
}

func TestCancelledWhileTheAnswerIsAwaited(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := receive(t, func(int, seen, io.Writer) bool { cancel(); <-t.Context().Done(); return false })
	outcome, err := compiled(t, local(), post(r.url())).Execute(ctx, effecttest.NewAttempt(1))
	if err != nil || outcome.Kind != v1alpha1.OutcomeUnknown {
		t.Errorf("it was sent: got %+v and %v", outcome, err)
	}
}

// The process is stopped after the check and wakes after the deadline. Its timers have not fired: only the clock
// tells. The clock here jumps at the named moment.
func TestTheDeadlineIsOverWhen(t *testing.T) {
	server, trusting := secure(t)
	for _, c := range []struct {
		name string
		jump func(t *testing.T, jump func()) (url string, options Options, requests func() int)
	}{
		{"the connection is made", func(t *testing.T, jump func()) (string, Options, func() int) {
			r := receive(t, says(200, "{}"))
			options := local()
			options.tls = trusting
			options.dialled = jump
			return r.url(), options, r.count
		}},
		{"the TLS handshake is done", func(t *testing.T, jump func()) (string, Options, func() int) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			jumping := server.Clone()
			jumping.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { jump(); return nil, nil } //nolint:nilnil // As documented: use the original.
			r := serve(t, tls.NewListener(listener, jumping), says(200, "{}"))
			options := local()
			options.tls = trusting
			return "https://" + listener.Addr().String(), options, r.count
		}},
		{"a Secret is read", func(t *testing.T, jump func()) (string, Options, func() int) {
			r := receive(t, says(200, "{}"))
			options := local()
			options.Secret = func(context.Context, string, string) (map[string][]byte, error) {
				jump()
				return map[string][]byte{"key": []byte("s3cret-value")}, nil
			}
			return r.url(), options, r.count
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, change := range map[string]func(*v1alpha1.TaskTemplateSpec){"POST": method("POST"), "idempotent": idempotent} {
				var late atomic.Bool
				attempt := effecttest.NewAttempt(1)
				url, options, requests := c.jump(t, func() { late.Store(true) })
				options.now = func() time.Time {
					if late.Load() {
						return attempt.Deadline
					}
					return time.Now()
				}
				outcome := execute(t, compiled(t, options, post(url, change, secretHeader("X-Api-Key", "pay", "key"), noSecretUnless(options))), attempt)
				if outcome.Kind != v1alpha1.OutcomeNotApplied || outcome.Permanent || requests() != 0 {
					t.Errorf("%s: got %+v after %d requests, want NotApplied after none", name, outcome, requests())
				}
				if want := "the deadline was over before the request could be sent; nothing was sent"; outcome.Message != want {
					t.Errorf("got the message %q, want %q", outcome.Message, want)
				}
			}
		})
	}
}

func TestNothingIsDialledAfterTheDeadline(t *testing.T) {
	r := receive(t, says(200, "{}"))
	options := local()
	options.now = func() time.Time { return time.Now().Add(time.Hour) }
	options.dialled = func() { t.Error("it was dialled") }
	if outcome := executed(t, options, post(r.url())); outcome.Kind != v1alpha1.OutcomeNotApplied {
		t.Errorf("got %+v", outcome)
	}
}

// noSecretUnless drops the headers where no Secrets are served.
func noSecretUnless(options Options) func(*v1alpha1.TaskTemplateSpec) {
	return func(spec *v1alpha1.TaskTemplateSpec) {
		if options.Secret == nil {
			spec.Effect.HTTP.Headers = nil
		}
	}
}

// A long body leaves in pieces. A process that is stopped between two of them must not go on after its deadline.
func TestTheDeadlinePassesInsideABody(t *testing.T) {
	var writes atomic.Int32
	attempt := effecttest.NewAttempt(1)
	attempt.Parameters = fmt.Appendf(nil, `{"long":"%s"}`, strings.Repeat("x", 1<<20))
	options := local()
	options.now = func() time.Time {
		if writes.Add(1) > 2 { // the check before the dial, and the first write
			return attempt.Deadline
		}
		return time.Now()
	}
	r := receive(t, says(200, "{}"))
	outcome := execute(t, compiled(t, options, post(r.url())), attempt)
	if outcome.Kind != v1alpha1.OutcomeUnknown || r.count() != 0 {
		t.Errorf("got %+v after %d whole requests, want Unknown after none", outcome, r.count())
	}
}

func TestCancelledWhileDialling(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stopping := errors.New("the operator is stopping")
	options := local()
	options.dialled = func() { cancel(stopping) }
	r := receive(t, says(200, "{}"))
	outcome, err := compiled(t, options, post(r.url())).Execute(ctx, effecttest.NewAttempt(1))
	if !errors.Is(err, stopping) || outcome.Kind != "" || r.count() != 0 {
		t.Errorf("got %+v, %v and %d requests, want an error and none", outcome, err, r.count())
	}
}
