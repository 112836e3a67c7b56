package install_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// front stands before the API server, as pods see it. It refuses as many requests as it is told to, as an API server does
// that is overloaded.
type front struct {
	config  *rest.Config
	server  *httptest.Server
	refuse  atomic.Int64
	refused atomic.Int64
}

func newFront(config *rest.Config) (*front, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(config.CAData)
	f := &front{config: config}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1 // watches
	proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 100}
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	f.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.refuse.Add(-1) >= 0 {
			f.refused.Add(1)
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests", http.StatusTooManyRequests)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	f.server.EnableHTTP2 = true
	f.server.Config.ReadHeaderTimeout = time.Minute
	f.server.StartTLS()
	return f, nil
}

func (f *front) address() string { return strings.TrimPrefix(f.server.URL, "https://") }

// authorities are the certificates to trust.
func (f *front) authorities() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.server.Certificate().Raw})
}
