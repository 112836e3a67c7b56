package gateway_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

// fault is what a network does with a request that it picks; send lets it through.
type fault func(writer http.ResponseWriter, request *http.Request, send http.Handler)

func lostAnswer(_ http.ResponseWriter, request *http.Request, send http.Handler) {
	send.ServeHTTP(httptest.NewRecorder(), request)
	panic(http.ErrAbortHandler)
}

func neverArrives(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

func portal(writer http.ResponseWriter, _ *http.Request, _ http.Handler) {
	writer.Header().Set("Content-Type", "text/html")
	_, _ = writer.Write([]byte("<h1>Log in to the train's network</h1>"))
}

// firstEvents lets the beginning of an answer through, and cuts the connection.
func firstEvents(writer http.ResponseWriter, request *http.Request, send http.Handler) {
	send.ServeHTTP(&cutting{ResponseWriter: writer}, request)
}

type cutting struct {
	http.ResponseWriter
	events int
}

func (c *cutting) Write(chunk []byte) (int, error) {
	n, err := c.ResponseWriter.Write(chunk)
	if c.events += strings.Count(string(chunk), "data: "); c.events > 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

func (c *cutting) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// network is between the client and the gateway. The first request of a kind meets a fault; then is called with the second.
func (w *world) network(kind string, meet fault, then func()) (address string, seen *atomic.Int32) {
	w.Helper()
	target, err := url.Parse(installation.passing)
	if err != nil {
		w.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	seen = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		if request.Method+" "+filepath.Base(request.URL.Path) == kind {
			switch seen.Add(1) {
			case 1:
				meet(writer, request, proxy)
				return
			case 2:
				then()
			}
		}
		proxy.ServeHTTP(writer, request)
	}))
	w.Cleanup(server.Close)
	return server.URL, seen
}

// buildClient compiles clients/js, which make test-js has installed the compiler for, and returns the path of its module.
func buildClient(t *testing.T) string {
	t.Helper()
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	compile := exec.CommandContext(t.Context(), "node", "node_modules/typescript/bin/tsc", "--project", "tsconfig.build.json", "--outDir", dir)
	compile.Dir = filepath.Join(root, "clients", "js")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("the browser client is not built (run make test-js first): %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "index.js")
}

// TestBrowserClient has the browser client, in Node, submit through networks with a fault each: one effect, and the states that
// it should go through.
func TestBrowserClient(t *testing.T) {
	t.Parallel()
	built := buildClient(t)
	for _, test := range []struct {
		reason, kind string
		meet         fault
		seen         int32 // how many requests of the kind: more than one where it is sent, or opened, again
		states       string
	}{
		{"the answer is lost", "POST submissions", lostAnswer, 1, "idle submitting unknown submitted"},
		{"it never arrives", "POST submissions", neverArrives, 2, "idle submitting unknown submitting submitted"},
		{"a portal answers", "POST submissions", portal, 2, "idle submitting unknown submitting submitted"},
		{"the connection for events is cut", "GET events", firstEvents, 2, "idle submitting submitted"},
		{"a portal answers for the events", "GET events", portal, 2, "idle submitting submitted"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			name, _ := v1alpha1.NameForKey("task:42")
			template, approve := "award", func() {}
			w.template("award", "/plain/points")
			if strings.HasPrefix(test.kind, "GET") { // there is something to follow
				w.template("approved", "/plain/points", func(s *v1alpha1.TaskTemplateSpec) { s.Approval = &v1alpha1.Approval{Required: true} })
				template, approve = "approved", func() { w.approve(name) }
			}
			address, seen := w.network(test.kind, test.meet, approve)
			client := exec.CommandContext(t.Context(), "node", "testdata/submit.mjs", built, address, w.namespace, template)
			client.Env = append(os.Environ(), "TOKEN="+w.token)
			client.Stderr = os.Stderr
			out, err := client.Output()
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				States, Phase string
				Result        json.RawMessage
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if got.Phase != "Success" || len(got.Result) == 0 || got.States != test.states {
				t.Errorf("%s, with the states %s; want %s", out, got.States, test.states)
			}
			if n := w.effects(name); n != 1 {
				t.Errorf("%d effects", n)
			}
			if seen.Load() != test.seen {
				t.Errorf("the fault met 1 of %d requests, want of %d", seen.Load(), test.seen)
			}
		})
	}
}
