package install_test

import (
	"net/http/httptest"
	"net/http/httputil"
	"sync/atomic"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// proxied sets a proxy in the environment, and has a receiver called that only the proxy knows. The API server, at an address
// of this machine, is called past it.
func (w *world) proxied(namespace string) {
	w.Helper()
	var asked atomic.Int32
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		if r.In.URL.Host == "receiver.example" {
			asked.Add(1)
		}
		r.Out.URL.Scheme, r.Out.URL.Host = "http", w.receiver
	}})
	w.Cleanup(proxy.Close) // the setting stays
	w.sh(`helm upgrade taskonce dist/chart -n taskonce-system --reset-then-reuse-values --wait --set-json 'extraEnv=[` + variablesForTests +
		`,{"name":"HTTP_PROXY","value":"` + proxy.URL + `"},{"name":"HTTPS_PROXY","value":"` + proxy.URL + `"}]'`)
	w.sh("kubectl apply -n " + namespace + ` -f - <<'END'
apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: far}
spec: {effect: {http: {url: "http://receiver.example/plain/far"}}}
END`)
	w.submit(namespace, "far-1", "far", "1")
	w.reaches(namespace, "far-1", v1alpha1.ReasonApplied)
	if got := asked.Load(); got != 1 {
		w.Errorf("the proxy was asked %d times for the receiver", got)
	}
}
