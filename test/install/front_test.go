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

// front stands before the API server, as pods see it. For as long as it is told to, it refuses every request, as an API
// server does that has too much to do.
type front struct {
	server  *httptest.Server
	until   atomic.Pointer[time.Time]
	refused atomic.Int64
}

func newFront(config *rest.Config) (*front, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(config.CAData)
	crt, key, err := selfSigned([]string{apiServer})
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(crt, key)
	if err != nil {
		return nil, err
	}
	f := &front{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1 // watches
	proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 100}
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	f.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if until := f.until.Load(); until != nil && time.Now().Before(*until) {
			f.refused.Add(1)
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests", http.StatusTooManyRequests)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	f.server.EnableHTTP2 = true
	f.server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	f.server.Config.ReadHeaderTimeout = time.Minute
	f.server.StartTLS()
	return f, nil
}

// throttle refuses everything for a while, and returns when that is over.
func (f *front) throttle(d time.Duration) time.Time {
	until := time.Now().Add(d)
	f.until.Store(&until)
	return until
}

func (f *front) port() string { return f.server.URL[strings.LastIndex(f.server.URL, ":")+1:] }

// authorities are the certificates to trust.
func (f *front) authorities() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.server.Certificate().Raw})
}
