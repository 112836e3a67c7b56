package httpcall

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

// behindProxy sets the environment so that everything but loopback goes through a proxy that does with a connection
// what it is told to.
func behindProxy(t *testing.T, accepted func(conn net.Conn) bool) *receiver {
	t.Helper()
	proxy := receive(t, says(502, ""))
	proxy.accepted = accepted
	t.Setenv("HTTPS_PROXY", "http://operator:pr0xy-pass@"+proxy.listener.Addr().String())
	t.Setenv("HTTP_PROXY", "http://"+proxy.listener.Addr().String())
	t.Setenv("NO_PROXY", "direct.example")
	return proxy
}

// A proxy that tunnels: the TLS connection is inside the one that was dialled.
func TestThroughAProxy(t *testing.T) {
	server, trusting := secure(t)
	for _, c := range []struct {
		name  string
		after func(now time.Time, deadline time.Time) time.Time // what the clock says when the tunnel is there
		want  v1alpha1.Outcome
		seen  int
	}{
		{"in time", func(now, _ time.Time) time.Time { return now }, applied, 1},
		{"too late", func(_, deadline time.Time) time.Time { return deadline }, notApplied, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			listener, err := tls.Listen("tcp", "127.0.0.1:0", server)
			if err != nil {
				t.Fatal(err)
			}
			r := serve(t, listener, says(200, "{}"))
			var tunnelled atomic.Bool
			behindProxy(t, func(conn net.Conn) bool {
				tunnelled.Store(true)
				tunnel(t, conn, listener.Addr().String())
				return false
			})
			attempt := effecttest.NewAttempt(1)
			options := local()
			options.tls = trusting
			options.now = func() time.Time {
				if tunnelled.Load() {
					return c.after(time.Now(), attempt.Deadline)
				}
				return time.Now()
			}
			outcome := execute(t, compiled(t, options, post("https://example.com")), attempt)
			if outcome.Kind != c.want || r.count() != c.seen || !tunnelled.Load() {
				t.Errorf("got %+v after %d requests", outcome, r.count())
			}
		})
	}
}

// tunnel answers a CONNECT and carries bytes to an address until either end closes.
func tunnel(t *testing.T, conn net.Conn, to string) {
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil || request.Method != http.MethodConnect || request.Host != "example.com:443" || request.Header.Get("Idempotency-Key") != "" {
		t.Errorf("got %+v and %v", request, err)
		return
	}
	far, err := net.Dial("tcp", to)
	if err != nil {
		t.Error(err)
		return
	}
	defer far.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(far, conn); _ = far.Close() }()
	_, _ = io.Copy(conn, far)
}

// What a proxy does before there is a way to the receiver has sent nothing.
func TestAProxyThatMakesNoTunnel(t *testing.T) {
	says := func(raw string) func(net.Conn) bool {
		return func(conn net.Conn) bool {
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			_, _ = io.WriteString(conn, raw)
			return false
		}
	}
	for _, c := range []struct {
		name, message string
		accepted      func(net.Conn) bool
	}{
		{"502", "the proxy of the operator's environment made no connection to the receiver: 502 Bad Gateway", says("HTTP/1.1 502 Whatever\r\nContent-Length: 0\r\n\r\n")},
		{"403", "made no connection to the receiver: 403 Forbidden", says("HTTP/1.1 403 Whatever\r\n\r\n")},
		{"its own credentials", "refused the credentials in HTTPS_PROXY (407)", says("HTTP/1.1 407 Whatever\r\n\r\n")},
		{"nothing", "the proxy of the operator's environment could not be connected to", says("")},
		{"no TLS behind it", "the TLS handshake with the receiver failed", says("HTTP/1.1 200 OK\r\n\r\nnonsense")},
	} {
		t.Run(c.name, func(t *testing.T) {
			behindProxy(t, c.accepted)
			outcome := executed(t, local(), post("https://example.com"))
			if outcome.Kind != notApplied || outcome.Permanent || !strings.Contains(outcome.Message, c.message) || !strings.HasSuffix(outcome.Message, "; nothing was sent") {
				t.Errorf("got %+v, want NotApplied with %q", outcome, c.message)
			}
			if strings.Contains(outcome.Message, "pr0xy") || strings.Contains(outcome.Message, "Whatever") {
				t.Errorf("the message %q holds what is not ours", outcome.Message)
			}
		})
	}
}

// Without TLS the proxy has the request, and its 502 says nothing about what it has done with it.
func TestAProxyWithoutATunnel(t *testing.T) {
	proxy := behindProxy(t, nil)
	outcome := executed(t, local(), post("http://example.com/charges"))
	if outcome.Kind != unknown || proxy.count() != 1 || proxy.all()[0].RequestURI != "http://example.com/charges" {
		t.Errorf("got %+v after %d requests", outcome, proxy.count())
	}
}

// The guard's check of the dialled address is about the proxy. What the template names is checked where it is an address.
func TestTheGuardBehindAProxy(t *testing.T) {
	for _, c := range []struct {
		name, url, message string
		options            Options
		proxied            int
	}{
		{"metadata by address", "http://169.254.169.254/latest", "the receiver is not called: its address is link-local", local(), 0},
		{"metadata by another address", "http://[::ffff:169.254.169.254]/latest", "the receiver is not called: its address is link-local", local(), 0},
		{"a private address", "http://10.0.0.1/", "502", local(), 1},
		{"a host name, which the proxy resolves", "http://metadata.google.internal/", "502", local(), 1},
		{"a proxy on loopback", "http://example.com/", "the proxy of the operator's environment is not called: its address is loopback", Options{}, 0},
		{"a loopback receiver never goes through it", "http://127.0.0.1:1/", "the receiver is not called: its address is loopback", Options{}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			proxy := behindProxy(t, nil)
			outcome := executed(t, c.options, post(c.url))
			if !strings.Contains(outcome.Message, c.message) || proxy.count() != c.proxied {
				t.Errorf("got %+v, and %d requests through the proxy, want %q and %d", outcome, proxy.count(), c.message, c.proxied)
			}
		})
	}
}

func TestWhatNeedsNoProxy(t *testing.T) {
	proxy := behindProxy(t, nil)
	c := newClient(local())
	for url, want := range map[string]bool{"https://example.com": true, "http://example.com": true, "https://direct.example/x": false, "http://localhost/": false} {
		request, err := http.NewRequest(http.MethodPost, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if through, err := c.proxied(&stage{})(request); err != nil || (through != nil) != want || (want && through.Host != proxy.listener.Addr().String()) {
			t.Errorf("%s: got %v and %v", url, through, err)
		}
	}
}
