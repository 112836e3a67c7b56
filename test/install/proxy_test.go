package install_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync/atomic"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// corporate is a proxy that leads to a receiver that nobody else knows, and refuses tunnels.
type corporate struct {
	receiver    string
	calls       atomic.Int32 // for the receiver
	tunnels     atomic.Int32 // to the API server
	tunnelsElse atomic.Int32
}

func (c *corporate) ServeHTTP(answer http.ResponseWriter, request *http.Request) {
	switch {
	case request.Method == http.MethodConnect && strings.HasPrefix(request.Host, apiServer+":"):
		c.tunnels.Add(1)
	case request.Method == http.MethodConnect:
		c.tunnelsElse.Add(1)
	case request.URL.Host == "receiver.example":
		c.calls.Add(1)
		(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Host = c.receiver }}).ServeHTTP(answer, request)
		return
	}
	http.Error(answer, "the proxy does not lead there", http.StatusForbidden)
}

// proxied sets a proxy in the environment: first without saying that the API server is not behind it, and then as the page
// does. A receiver is called that only the proxy knows.
func (w *world) proxied(namespace string) {
	w.Helper()
	proxy := &corporate{receiver: w.receiver}
	server := httptest.NewServer(proxy)
	w.Cleanup(server.Close) // the setting stays

	w.sh("kubectl set env deployment/taskonce-controller-manager -n taskonce-system HTTPS_PROXY=" + server.URL)
	w.await("a line says what is wrong", func(context.Context) (bool, error) {
		return strings.Contains(w.tails(), "it was sent to the proxy "+server.URL+": add "+apiServer+" to NO_PROXY"), nil
	})
	tunnels := proxy.tunnels.Load()
	if tunnels == 0 {
		w.Error("without NO_PROXY the API server was called past the proxy")
	}

	section := "Networks and proxies"
	w.sh(strings.ReplaceAll(sections(w.read("docs/install.md"))[section], "http://proxy.example:3128", server.URL))
	followed["docs/install.md#"+section] = true
	w.theLastHaveEnded() // those without NO_PROXY ask the proxy until then
	tunnels = proxy.tunnels.Load()
	w.sh("kubectl apply -n " + namespace + ` -f - <<'END'
apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: far}
spec: {effect: {http: {url: "http://receiver.example/plain/far"}}}
END`)
	w.submit(namespace, "far-1", "far", "1")
	w.reaches(namespace, "far-1", v1alpha1.ReasonApplied)
	if got := proxy.calls.Load(); got != 1 {
		w.Errorf("the proxy was asked %d times for the receiver", got)
	}
	if proxy.tunnels.Load() != tunnels || proxy.tunnelsElse.Load() > 0 {
		w.Errorf("with NO_PROXY the proxy was asked %d times for the API server, and %d times for something else", proxy.tunnels.Load()-tunnels, proxy.tunnelsElse.Load())
	}
}
