package page

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"
)

func asked(handler http.Handler, method, path, host string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path, http.NoBody)
	if host != "" {
		request.Host = host
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer
}

func TestWhatIsServed(t *testing.T) {
	handler := Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for _, test := range []struct {
		method, path string
		status       int
		kind         string
	}{
		{"GET", "/", 200, "text/html"},
		{"HEAD", "/", 200, "text/html"},
		{"GET", "/page.js", 200, "text/javascript"},
		{"GET", "/page.css", 200, "text/css"},
		{"GET", "/icon.svg", 200, "image/svg+xml"},
		{"GET", "/page/state", 418, ""},
		{"GET", "/page/", 404, ""},
		{"GET", "/openapi.json", 404, ""},
		{"POST", "/", 405, ""},
		{"POST", "/page/state", 405, ""},
		{"GET", "/../page.go", 307, ""},
	} {
		got := asked(handler, test.method, test.path, "")
		if got.Code != test.status || !strings.HasPrefix(got.Header().Get("Content-Type"), test.kind) {
			t.Errorf("%s %s: %d %s", test.method, test.path, got.Code, got.Header().Get("Content-Type"))
		}
		for name, value := range map[string]string{
			"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if !strings.Contains(got.Header().Get(name), value) {
				t.Errorf("%s %s: %s is %q", test.method, test.path, name, got.Header().Get(name))
			}
		}
	}
}

// TestThePageKeepsItsOwnPolicy: nothing inline, nothing from elsewhere, and no text made into markup.
func TestThePageKeepsItsOwnPolicy(t *testing.T) {
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|\sstyle="|\son[a-z]+="|https?://`)
	if loose := regexp.MustCompile(`unsafe|\*|https?:|data:|blob:`).FindString(policy); loose != "" {
		t.Errorf("the policy allows %s", loose)
	}
	names, err := fs.Glob(embedded, "web/*")
	if err != nil || len(names) < 5 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		content, err := fs.ReadFile(embedded, name)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(content), "http://www.w3.org/2000/svg", "")
		if found := forbidden.FindString(text); found != "" {
			t.Errorf("%s has %q", name, found)
		}
	}
}

// TestOneViewIsForEverybody: how many look makes no difference, and a second later it is another one.
func TestOneViewIsForEverybody(t *testing.T) {
	now := noon
	p := &Page{now: func() time.Time { return now }}
	first := asked(p.State(), "GET", StatePath, "").Body.String()
	now = now.Add(fresh - time.Millisecond)
	if again := asked(p.State(), "GET", StatePath, "").Body.String(); again != first {
		t.Error("it was made again")
	}
	now = now.Add(time.Millisecond)
	later := asked(p.State(), "GET", StatePath, "")
	if later.Body.String() == first || later.Header().Get("Cache-Control") != "no-store" {
		t.Error("it is an old one")
	}
}
