package httpcall

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/internal/expr"
)

// seen is one request as the receiver saw it.
type seen struct {
	*http.Request
	body       string
	connection int
}

// receiver is a real TCP receiver that speaks only as it is told to.
type receiver struct {
	t        *testing.T
	listener net.Listener
	// respond answers the n-th request, counted from 1, with raw bytes; false: it drops the connection.
	respond func(n int, r seen, w io.Writer) bool
	// accepted, where set, handles a connection before any request is read; false: it drops it.
	accepted func(conn net.Conn) bool

	mu          sync.Mutex
	requests    []seen
	connections int
}

func receive(t *testing.T, respond func(n int, r seen, w io.Writer) bool) *receiver {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, listener, respond)
}

func serve(t *testing.T, listener net.Listener, respond func(n int, r seen, w io.Writer) bool) *receiver {
	r := &receiver{t: t, listener: listener, respond: respond}
	serveConnections(t, listener, r.converse)
	return r
}

// serveConnections has each connection handled until the test ends.
func serveConnections(t *testing.T, listener net.Listener, converse func(net.Conn)) {
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			stop := context.AfterFunc(t.Context(), func() { _ = conn.Close() }) // t.Context ends before Cleanup
			open.Go(func() { defer stop(); defer conn.Close(); converse(conn) })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); open.Wait() })
}

func (r *receiver) converse(conn net.Conn) {
	r.mu.Lock()
	r.connections++
	connection := r.connections
	r.mu.Unlock()
	if r.accepted != nil && !r.accepted(conn) {
		return
	}
	reader := bufio.NewReader(conn)
	for {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		one := seen{request, string(body), connection}
		r.mu.Lock()
		r.requests = append(r.requests, one)
		n := len(r.requests)
		r.mu.Unlock()
		if !r.respond(n, one, conn) || request.Close {
			return
		}
	}
}

func (r *receiver) url() string { return "http://" + r.listener.Addr().String() }

func (r *receiver) all() []seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]seen(nil), r.requests...)
}

func (r *receiver) count() int { return len(r.all()) }

// says returns a responder with one answer. Headers are "Name: value".
func says(status int, body string, headers ...string) func(int, seen, io.Writer) bool {
	return func(_ int, _ seen, w io.Writer) bool {
		write(w, status, body, headers...)
		return true
	}
}

func write(w io.Writer, status int, body string, headers ...string) {
	var raw bytes.Buffer
	fmt.Fprintf(&raw, "HTTP/1.1 %d Whatever\r\nContent-Length: %d\r\n", status, len(body))
	for _, header := range headers {
		raw.WriteString(header + "\r\n")
	}
	raw.WriteString("\r\n" + body)
	_, _ = w.Write(raw.Bytes())
}

func drops(int, seen, io.Writer) bool { return false }

// secretsOf serves Secrets from a map of "name/key".
func secretsOf(values map[string]string) effect.SecretReader {
	return func(_ context.Context, namespace, name string) (map[string][]byte, error) {
		data := map[string][]byte{}
		for key, value := range values {
			if within, ok := strings.CutPrefix(key, name+"/"); ok && namespace == "shop" {
				data[within] = []byte(value)
			}
		}
		return data, nil
	}
}

func local() Options { return Options{AllowLoopback: true} }

// post is a template that posts to a URL.
func post(url string, changes ...func(*v1alpha1.TaskTemplateSpec)) *v1alpha1.TaskTemplateSpec {
	spec := &v1alpha1.TaskTemplateSpec{}
	spec.Effect.HTTP = &v1alpha1.HTTPEffect{HTTPRequest: v1alpha1.HTTPRequest{URL: url}}
	for _, change := range changes {
		change(spec)
	}
	return spec
}

func idempotent(spec *v1alpha1.TaskTemplateSpec) { spec.Effect.HTTP.Receiver.Idempotent = true }

func method(name string) func(*v1alpha1.TaskTemplateSpec) {
	return func(spec *v1alpha1.TaskTemplateSpec) { spec.Effect.HTTP.Method = name }
}

func body(raw string) func(*v1alpha1.TaskTemplateSpec) {
	return func(spec *v1alpha1.TaskTemplateSpec) {
		spec.Effect.HTTP.Body = &apiextensionsv1.JSON{Raw: []byte(raw)}
	}
}

func valueHeader(name, value string) func(*v1alpha1.TaskTemplateSpec) {
	return func(spec *v1alpha1.TaskTemplateSpec) {
		spec.Effect.HTTP.Headers = append(spec.Effect.HTTP.Headers, v1alpha1.HTTPHeader{Name: name, Value: &value})
	}
}

func secretHeader(header, name, key string) func(*v1alpha1.TaskTemplateSpec) {
	return func(spec *v1alpha1.TaskTemplateSpec) {
		ref := v1alpha1.SecretKeyRef{Name: name, Key: key}
		spec.Effect.HTTP.Headers = append(spec.Effect.HTTP.Headers,
			v1alpha1.HTTPHeader{Name: header, ValueFrom: &v1alpha1.ValueSource{SecretKeyRef: ref}})
	}
}

func classified(when string, outcome v1alpha1.Outcome) func(*v1alpha1.TaskTemplateSpec) {
	return func(spec *v1alpha1.TaskTemplateSpec) {
		spec.Effect.HTTP.Classify = append(spec.Effect.HTTP.Classify, v1alpha1.ClassifyRule{When: when, Outcome: outcome})
	}
}

func resulting(text string) func(*v1alpha1.TaskTemplateSpec) {
	return func(spec *v1alpha1.TaskTemplateSpec) { spec.Effect.HTTP.Result = text }
}

func verifiedAt(url string, rules ...v1alpha1.ClassifyRule) func(*v1alpha1.TaskTemplateSpec) {
	return func(spec *v1alpha1.TaskTemplateSpec) {
		spec.Verification = &v1alpha1.Verification{
			HTTP: v1alpha1.HTTPRequest{URL: url}, Classify: rules,
			SettleAfter: metav1.Duration{Duration: 7 * time.Second},
		}
	}
}

// compiled compiles a template that must compile.
func compiled(t *testing.T, options Options, spec *v1alpha1.TaskTemplateSpec) *call {
	t.Helper()
	env, err := expr.NewEnv(nil)
	if err != nil {
		t.Fatal(err)
	}
	made, _, faults := New(options)("shop", spec, env)
	if len(faults) > 0 {
		t.Fatal(faults.ToAggregate())
	}
	one := made.(*call)
	if reused, ok := one.client.reused.(*http.Transport); ok {
		t.Cleanup(reused.CloseIdleConnections)
	}
	return one
}

// executed runs one attempt and returns its outcome. It fails the test where an outcome is not one that a
// record can hold.
func executed(t *testing.T, options Options, spec *v1alpha1.TaskTemplateSpec) effect.Outcome {
	t.Helper()
	return execute(t, compiled(t, options, spec), effecttest.NewAttempt(1))
}

func execute(t *testing.T, one *call, attempt effect.Attempt) effect.Outcome {
	t.Helper()
	outcome, err := one.Execute(t.Context(), attempt)
	if err != nil {
		t.Fatalf("the error %v", err)
	}
	if err := effecttest.Check(outcome); err != nil {
		t.Error(err)
	}
	return outcome
}

// secure returns the TLS configuration of a server for 127.0.0.1, and that of a client which trusts it.
func secure(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	return &tls.Config{Certificates: s.TLS.Certificates}, s.Client().Transport.(*http.Transport).TLSClientConfig
}
