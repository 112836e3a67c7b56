package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// raw sends a request as it is written, which no client of HTTP would, and reads one answer.
func (w *world) raw(text string) answered {
	w.Helper()
	target, err := url.Parse(installation.passing)
	if err != nil {
		w.Fatal(err)
	}
	connection, err := (&net.Dialer{}).DialContext(w.Context(), "tcp", target.Host)
	if err != nil {
		w.Fatal(err)
	}
	defer connection.Close()
	go func() { _, _ = io.WriteString(connection, text) }() // an answer may come before all is written
	method, _, _ := strings.Cut(text, " ")
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: method})
	if err != nil {
		w.Fatalf("no answer to %.200q: %v", text, err)
	}
	return w.read(response)
}

// written is a request as it goes over the wire: with the caller's token, and whatever else.
func (w *world) written(line string, headers []string, body string) string {
	lines := append([]string{line + " HTTP/1.1", "Host: gateway", "Connection: close", "Authorization: Bearer " + w.token}, headers...)
	return strings.ReplaceAll(strings.Join(lines, "\r\n")+"\r\n\r\n"+body, "{ns}", w.namespace)
}

// posted is a POST of a body under a key.
func (w *world) posted(key, body string, headers ...string) string {
	if !strings.Contains(strings.Join(headers, "\n"), "Content-Type:") {
		headers = append(headers, "Content-Type: application/json")
	}
	headers = append(headers, "Idempotency-Key: "+key, "Prefer: wait=0", fmt.Sprintf("Content-Length: %d", len(body)))
	return w.written("POST /v1/namespaces/{ns}/submissions", headers, body)
}

const (
	awarded = `{"template":"award","parameters":{"order":"7"}}`
	plain   = "text/plain" // of Go's server itself, before the gateway is asked
)

// TestMalformed sends what is no request of the interface, or hardly one. Whatever it is, it is answered with a problem, and nothing is
// created.
func TestMalformed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("award", "/plain/points")
	get := func(path string, headers ...string) string { return w.written("GET "+path, headers, "") }
	const all = "/v1/namespaces/{ns}/submissions"
	for _, test := range []struct {
		reason, request string
		status          int
		kind            string
	}{
		{"no key", w.posted(`""`, awarded), 400, "invalid-key"},
		{"a key that is too long by a byte", w.posted(`"`+strings.Repeat("k", 513)+`"`, awarded), 400, "invalid-key"},
		{"a key with bytes that are no ASCII", w.posted("\"k\xff\"", awarded), 400, "invalid-key"},
		{"a key with bytes that are no UTF-8, as a Display String", w.posted(`%"k%ff"`, awarded), 400, "invalid-key"},
		{"a key with a NUL, as a Display String", w.posted(`%"k%00"`, awarded), 400, "invalid-key"},
		{"a key that is a list", w.posted(`"a", "b"`, awarded), 400, "invalid-key"},
		{"a key that is a number", w.posted(`7`, awarded), 400, "invalid-key"},
		{"a key that has no end", w.posted(`"k`, awarded), 400, "invalid-key"},
		{"an empty body", w.posted(`"k"`, ""), 400, "invalid-request"},
		{"null", w.posted(`"k"`, "null"), 400, "invalid-request"},
		{"a list", w.posted(`"k"`, "[]"), 400, "invalid-request"},
		{"something after the body", w.posted(`"k"`, awarded+` {}`), 400, "invalid-request"},
		{"a byte order mark", w.posted(`"k"`, "\xef\xbb\xbf"+awarded), 400, "invalid-request"},
		{"a NUL in the JSON", w.posted(`"k"`, strings.Replace(awarded, "7", "\x00", 1)), 400, "invalid-request"},
		{"text that is no UTF-8", w.posted(`"k"`, strings.Replace(awarded, "7", "\xff", 1)), 400, "invalid-request"},
		{"half a character", w.posted(`"k"`, strings.Replace(awarded, "7", `\ud800`, 1)), 400, "invalid-request"},
		{"a name that comes twice", w.posted(`"k"`, `{"template":"other","template":"award"}`), 400, "invalid-request"},
		{"a parameter that comes twice", w.posted(`"k"`, `{"template":"award","parameters":{"order":"7","order":"8"}}`), 400, "invalid-request"},
		{"too deep", w.posted(`"k"`, `{"template":"award","parameters":`+strings.Repeat("[", 3000)+`}`), 400, "invalid-request"},
		{"parameters that are none", w.posted(`"k"`, `{"template":"award","parameters":"x"}`), 400, "invalid-request"},
		{"no template", w.posted(`"k"`, `{"template":""}`), 400, "invalid-request"},
		{"a template's name with a slash", w.posted(`"k"`, `{"template":"a/b"}`), 400, "invalid-request"},
		{"a form", w.posted(`"k"`, "template=award", "Content-Type: application/x-www-form-urlencoded"), 415, "unsupported-media-type"},
		{"a compressed body", w.posted(`"k"`, "\x1f\x8b\x08\x00", "Content-Encoding: gzip"), 400, "invalid-request"},
		{"a length that is not reached", strings.Replace(w.posted(`"k"`, awarded), "Content-Length: ", "Content-Length: 1", 1), 408, "slow-body"},
		{"chunks without an end", w.written("POST "+all, []string{"Content-Type: application/json", `Idempotency-Key: "k"`, "Transfer-Encoding: chunked"}, "1\r\n{\r\n"), 408, "slow-body"},
		{"chunks that are too many", w.written("POST "+all, []string{"Content-Type: application/json", `Idempotency-Key: "k"`, "Transfer-Encoding: chunked"},
			strings.Repeat("400\r\n"+strings.Repeat(" ", 1024)+"\r\n", 5)+"0\r\n\r\n"), 413, "too-large"},
		{"a length that is not true", w.posted(`"k"`, "", "Content-Length: 99999999999999"), 400, plain},
		{"a parameter of the query that is not known", get(all + "?idempotencyKey=k&limit=5"), 400, "invalid-request"},
		{"a query without a key", get(all), 400, "invalid-request"},
		{"an empty key in a query", get(all + "?idempotencyKey="), 400, "invalid-request"},
		{"a key in a query that is no UTF-8", get(all + "?idempotencyKey=%ff"), 400, "invalid-key"},
		{"a key in a query with a NUL", get(all + "?idempotencyKey=k%00"), 400, "invalid-key"},
		{"a key in a query that is too long", get(all + "?idempotencyKey=" + strings.Repeat("k", 513)), 400, "invalid-key"},
		{"a query that cannot be read", get(all + "?idempotencyKey=%zz"), 400, "invalid-request"},
		{"a slash in a name", get(all + "/a%2Fb"), 400, "invalid-request"},
		{"a slash in a namespace", get("/v1/namespaces/a%2Fb/submissions/k"), 400, "invalid-request"},
		{"a way out of a name", get(all + "/%2e%2e"), 404, "no-such-path"},
		{"a way out of a namespace", get("/v1/namespaces/../namespaces/{ns}/submissions/k"), 404, "no-such-path"},
		{"two slashes", get("/v1//namespaces/{ns}/submissions/k"), 404, "no-such-path"},
		{"a slash at the end", get(all + "/k/"), 404, "no-such-path"},
		{"no name", get(all + "/"), 404, "no-such-path"},
		{"a name that is too long", get(all + "/" + strings.Repeat("k", 64)), 400, "invalid-request"},
		{"a name with a NUL", get(all + "/k%00"), 400, "invalid-request"},
		{"OPTIONS, which is no preflight", w.written("OPTIONS "+all, nil, ""), 405, "wrong-method"},
		{"an encoded way out of a namespace", get("/v1/namespaces/a%2F..%2Fb/submissions/k"), 404, "no-such-path"},
		{"TRACE", w.written("TRACE "+all, nil, ""), 405, "wrong-method"},
		{"a method of one's own", w.written("SUBMIT "+all, nil, ""), 405, "wrong-method"},
		{"a path of nothing", get("/"), 404, "no-such-path"},
		{"headers that are too large", get(all+"/k", "X-Large: "+strings.Repeat("x", 100<<10)), 431, plain},
		{"a header with a NUL", get(all+"/k", "X-Odd: a\x00b"), 400, plain},
		{"a header without a name", get(all+"/k", ": a"), 400, plain},
		{"no HTTP", "hello\r\n\r\n", 400, plain},
	} {
		got := w.raw(test.request)
		contentType := got.header.Get("Content-Type")
		if test.kind == plain {
			if got.status != test.status || !strings.HasPrefix(contentType, plain) {
				t.Errorf("%s: %d %s, want %d: %s", test.reason, got.status, contentType, test.status, got.body)
			}
			continue
		}
		if got.status != test.status || contentType != "application/problem+json" {
			t.Errorf("%s: %d %s, want %d: %s", test.reason, got.status, contentType, test.status, got.body)
			continue
		}
		if said := got.said(t); said.Type != test.kind {
			t.Errorf("%s: %q, want %q: %s", test.reason, said.Type, test.kind, got.body)
		}
	}
	list := &v1alpha1.TaskSubmissionList{}
	if err := w.admin.List(t.Context(), list, client.InNamespace(w.namespace)); err != nil || len(list.Items) != 0 {
		t.Errorf("%d submissions were created, as %v (%v)", len(list.Items), list.Items, err)
	}
}

// TestOddButRight: what is unusual, and means what it says.
func TestOddButRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("award", "/plain/points")
	w.template("approved", "/plain/points", func(s *v1alpha1.TaskTemplateSpec) { s.Approval = &v1alpha1.Approval{Required: true} })
	const all = "/v1/namespaces/{ns}/submissions"
	longest := strings.Repeat("k", 512)
	for _, test := range []struct {
		reason, request string
		status          int
	}{
		{"a key of a byte", w.posted(`"k"`, awarded), 202},
		{"the longest key", w.posted(`"`+longest+`"`, awarded), 202},
		{"and it is found", w.written("GET "+all+"?idempotencyKey="+longest, nil, ""), 200},
		{"a key with parameters, which nobody knows", w.posted(`"p";a=1`, awarded), 202},
		{"a NUL in a text", w.posted(`"nul"`, strings.Replace(awarded, "7", `\u0000`, 1)), 202},
		{"a type with its letters", w.posted(`"letters"`, awarded, "Content-Type: application/json; charset=utf-8"), 202},
		{"a trace that is none", w.posted(`"trace"`, awarded, "traceparent: "+strings.Repeat("0", 10<<10)), 202},
		{"HEAD", w.written("HEAD "+all+"/k", nil, ""), 200},
		{"HEAD of what is not there", w.written("HEAD "+all+"/none", nil, ""), 404},
		{"HEAD of events", w.written("HEAD "+all+"/k/events", nil, ""), 200},
		{"other types than there are", w.written("GET "+all+"/k", []string{"Accept: application/xml"}, ""), 200},
		{"a whole URL", w.written("GET http://elsewhere.example"+all+"/k", nil, ""), 200},
	} {
		if got := w.raw(test.request); got.status != test.status {
			t.Errorf("%s: %d, want %d: %s", test.reason, got.status, test.status, got.body)
		}
	}
	if stored := w.submission("trace").Annotations[v1alpha1.AnnotationTraceparent]; stored != "" {
		t.Errorf("what is no trace was stored: %.100q", stored)
	}

	// Waiting for ever is waiting as long as a gateway lets anybody.
	process, url, err := installation.gateway(t.Context(), "--max-wait=1s", "--default-wait=1s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	if got := w.send(url, w.token, submits("ever", "approved", with("Prefer", "wait=99999999999999999999"))); got.status != 202 || got.header.Get("Preference-Applied") != "wait=1" {
		t.Errorf("for ever: %d, %q: %s", got.status, got.header.Get("Preference-Applied"), got.body)
	}

	// An event of another submission says nothing of this one.
	w.becomes("k", "done", func(s v1alpha1.TaskSubmissionStatus) bool { return s.Phase.Terminal() })
	for _, last := range []string{w.submission("nul").ResourceVersion, "0", "99999999999999999999", "-1", "none"} {
		if got := w.send(installation.passing, w.token, reads("/k/events", with("Last-Event-ID", last))); got.status != 200 || !strings.Contains(string(got.body), "event: submission") {
			t.Errorf("after the event %s: %d: %s", last, got.status, got.body)
		}
	}
}
