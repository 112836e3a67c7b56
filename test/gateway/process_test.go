package gateway_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

// TestStopping: a gateway that is asked to end answers what waits with what is known, and closes connections for events.
func TestStopping(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("approved", "/plain/points", func(s *v1alpha1.TaskTemplateSpec) { s.Approval = &v1alpha1.Approval{Required: true} })
	process, url, err := installation.gateway(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	w.expect(202, "", url, w.token, submits("first", "approved", with("Prefer", "wait=0")))
	events := w.listen(url, w.token, "/first/events", "")
	<-events
	waiting := make(chan answered, 1)
	go func() { waiting <- w.send(url, w.token, submits("second", "approved", with("Prefer", "wait=60"))) }()
	w.becomes("second", "there", func(v1alpha1.TaskSubmissionStatus) bool { return true })
	if err := process.Stop(time.Minute); err != nil {
		t.Error(err)
	}
	if got := <-waiting; got.status != 202 || got.header.Get("Location") == "" {
		t.Errorf("what waited was answered %d: %s", got.status, got.body)
	}
	for range events { // until it is closed
	}
}

// TestPassThroughLendsNothing: where tokens are passed on, what the gateway itself may do is of no use to anybody, be it an
// administrator's certificate.
func TestPassThroughLendsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("award", "/plain/points")
	strong := installation
	strong.kubeconfig = installation.plane.Kubeconfig
	process, url, err := strong.gateway(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	w.expect(401, "unauthenticated", url, "forged", submits("task", "award"))
	w.expect(403, "forbidden", url, w.account("nobody"), submits("task", "award"))
	w.expect(201, "", url, w.token, submits("task", "award"))
	if by := w.submission("task").Annotations[v1alpha1.AnnotationSubmittedBy]; by != harness.AccountUser(w.namespace, "application") {
		t.Errorf("it was submitted by %q", by)
	}
}

// becomes waits until a submission is there, and its status as wanted.
func (w *world) becomes(name, what string, wanted func(v1alpha1.TaskSubmissionStatus) bool) {
	w.Helper()
	found := &v1alpha1.TaskSubmission{}
	for deadline := time.Now().Add(time.Minute); ; <-time.After(10 * time.Millisecond) {
		err := w.admin.Get(w.Context(), key(w.namespace, name), found)
		if err == nil && wanted(found.Status) {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("%s is not %s after a minute: %v: %+v", name, what, err, found.Status)
		}
	}
}

// until waits for what tells nobody when it is so.
func (w *world) until(what string, holds func() bool) {
	w.Helper()
	if err := wait.PollUntilContextTimeout(w.Context(), 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return holds(), nil }); err != nil {
		w.Fatalf("waiting for %s: %v", what, err)
	}
}

// TestOverTLS: what is served over TLS is measured, no token is in the log, and each line of it is JSON.
func TestOverTLS(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("award", "/plain/points")
	dir := t.TempDir()
	trusted := certificate(t, dir)
	address, metrics := unused(t), unused(t)
	log := filepath.Join(dir, "log")
	process, err := harness.Launch("gateway", log, nil, filepath.Join(installation.bin, "gateway"), "--kubeconfig="+installation.kubeconfig,
		"--bind-address="+address, "--tls-cert-dir="+dir, "--metrics-bind-address="+metrics, "--metrics-authentication=none", "--health-probe-bind-address=0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	get := func(from *http.Client, url string) string {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		request.Header.Set("Authorization", "Bearer "+w.token)
		response, err := from.Do(request)
		if err != nil {
			return ""
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		return string(body)
	}
	if err := process.Await(t.Context(), func(context.Context) bool { return get(client, "https://"+address+"/openapi.json") != "" }); err != nil {
		t.Fatal(err)
	}
	if body := get(client, "https://"+address+"/v1/namespaces/"+w.namespace+"/submissions/nothing"); !strings.Contains(body, "not-found") {
		t.Errorf("over TLS: %q", body)
	}
	anybody := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	var measured string
	if err := process.Await(t.Context(), func(context.Context) bool { // it is counted when it has been answered
		measured = get(anybody, "https://"+metrics+"/metrics")
		return strings.Contains(measured, `taskonce_gateway_request_duration_seconds_count{code="404",replayed="false",route="GET /v1/namespaces/{namespace}/submissions/{name}"} 1`)
	}); err != nil {
		t.Errorf("%v; the metrics are\n%s", err, measured)
	}
	if get(&http.Client{Transport: &http.Transport{}}, "https://"+address+"/openapi.json") != "" {
		t.Error("it is trusted without a reason")
	}
	said := w.logged(log, "TLS handshake error")
	if strings.Contains(said, w.token) {
		t.Errorf("the log is\n%s", said)
	}
	for line := range strings.Lines(said) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no line of JSON: %s", line)
		}
	}
}

// logged returns the lines of a log when they say something. The last one may still be being written.
func (w *world) logged(path, something string) (said string) {
	w.Helper()
	if err := wait.PollUntilContextTimeout(w.Context(), 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		text, err := os.ReadFile(path)
		said = string(text[:bytes.LastIndexByte(text, '\n')+1])
		return strings.Contains(said, something), err
	}); err != nil {
		w.Fatalf("%v; the log is\n%s", err, said)
	}
	return said
}

func unused(t *testing.T) string {
	t.Helper()
	address, err := harness.UnusedAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// certificate writes tls.crt and tls.key for this machine, and returns who trusts them.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, about, about, secret.Public(), secret)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	for name, block := range map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: der}, "tls.key": {Type: "EC PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return pool
}
