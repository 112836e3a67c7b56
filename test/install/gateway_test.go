package install_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

// gatewayAccount is also the name of the gateway's Service.
const gatewayAccount = "taskonce-gateway"

// door is the gateway, as an application reaches it.
type door struct {
	*world
	by  *http.Client
	url string
}

// gatewayByManifest installs the gateway as the pages say, in both modes, and submits by it.
func (w *world) gatewayByManifest() {
	w.Helper()
	crt, key := w.certificate()
	w.earlierBinding()
	w.follow("docs/install.md", "The gateway with the manifest", "=tls.crt", "="+crt, "=tls.key", "="+key)
	w.follow("docs/upgrade.md", "The gateway")
	w.follow("docs/upgrade.md", "Objects that a release no longer has")
	w.sh("kubectl get -f dist/gateway.yaml") // all of it is there still
	d := w.door(crt, gatewayAccount)

	namespace := w.newNamespace()
	w.install(namespace)
	w.sh("kubectl create serviceaccount app -n " + namespace + "; kubectl create serviceaccount stranger -n " + namespace +
		"; kubectl create rolebinding app -n " + namespace + " --clusterrole=taskonce-submitter --serviceaccount=" + namespace + ":app")
	w.mayBy(harness.AccountUser(namespace, "app"), submitting(namespace))
	d.submits(http.StatusCreated, w.token(namespace, "app"), namespace, "passed-1", "pay")
	d.submits(http.StatusForbidden, w.token(namespace, "stranger"), namespace, "passed-2", "pay")
	if by := w.submission(namespace, "passed-1").Annotations[v1alpha1.AnnotationSubmittedBy]; by != harness.AccountUser(namespace, "app") {
		w.Errorf("passed on, it was submitted by %q", by)
	}
	d.metricsNeedARight()
	w.rightsAreExact(system, gatewayAccount)

	issuer, err := harness.NewIssuer()
	w.must(err)
	w.Cleanup(issuer.Close)
	w.follow("docs/install.md", "The gateway verifies tokens", "https://issuer.example", issuer.URL, "-n shop", "-n "+namespace)
	w.door(crt, gatewayAccount).verifies(namespace, issuer) // by connections of its own, to what is there now
	w.rightsAreExact(system, gatewayAccount)
	w.sh("kubectl delete rolebinding taskonce-gateway -n " + namespace)
	w.once(namespace, "passed-1", "verified-1", "verified-corrected")
}

// gatewayByChart turns the gateway on, which verifies tokens of an issuer with an authority of its own.
func (w *world) gatewayByChart() {
	w.Helper()
	issuer, err := harness.NewTLSIssuer()
	w.must(err)
	w.Cleanup(issuer.Close)
	authority := filepath.Join(w.dir, "authority.crt")
	w.must(put(w.dir, "authority.crt", issuer.Authority(), 0o600))
	crt, key := w.certificate()
	namespace := w.newNamespace()
	w.install(namespace)
	w.sh("kubectl create secret tls taskonce-gateway-tls -n taskonce-system --cert=" + crt + " --key=" + key +
		"; kubectl create configmap issuer -n taskonce-system --from-file=ca.crt=" + authority)
	w.follow("docs/install.md", "The gateway with Helm", "https://issuer.example", issuer.URL, "'gateway.oidc.namespaces={shop}'", "'gateway.oidc.namespaces={"+namespace+"}' --set gateway.oidc.caConfigMap=issuer")
	d := w.door(crt, gatewayAccount)
	d.verifies(namespace, issuer)
	d.metricsNeedARight()
	w.rightsAreExact(system, gatewayAccount)
	w.showsThePage(crt, namespace)
	w.sh("kubectl delete clusterrolebinding prometheus-reads-taskonce; kubectl delete namespace monitoring --timeout=120s")
	w.once(namespace, "verified-1", "verified-corrected")
}

// retried is between attempts for a while, so that the page looks whether it asks for a person.
const retried = ` -f - <<'END'
apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: away}
spec: {retry: {initialDelay: 4m}, effect: {http: {url: "http://127.0.0.1:9/"}}}
---
apiVersion: taskonce.dev/v1alpha1
kind: TaskSubmission
metadata: {name: retried}
spec: {templateRef: {name: away}}
END`

// showsThePage turns the page on, which has rights of its own, and looks at it as somebody who may, and as somebody who may not.
func (w *world) showsThePage(crt, namespace string) {
	w.Helper()
	w.sh("kubectl apply -n " + namespace + retried)
	w.begun = time.Now() // what the gateway has asked for before is not what the page needs
	w.sh("helm upgrade taskonce dist/chart -n taskonce-system --reset-then-reuse-values --wait --set gateway.page.enabled=true,gateway.page.authentication=delegated" +
		" --set gateway.oidc.issuer=,gateway.oidc.audience=,gateway.oidc.caConfigMap= --set-json 'gateway.oidc.namespaces=[]'")
	w.sh("kubectl create clusterrolebinding lead-sees-the-page --clusterrole=taskonce-page-viewer --serviceaccount=monitoring:prometheus")
	page := w.door(crt, gatewayAccount+"-page")
	w.await("the page shows what waits for a person", func(context.Context) (bool, error) {
		text, err := io.ReadAll(page.open(w.token("monitoring", "prometheus"), http.MethodGet, "/page/state", "", "").Body)
		return strings.Contains(string(text), "verified-waits"), err
	})
	if refused := page.open(w.token("monitoring", "stranger"), http.MethodGet, "/page/state", "", ""); refused.StatusCode != http.StatusForbidden {
		w.Errorf("a stranger asks for what the page shows: %s", refused.Status)
	}
	w.rightsAreExact(system, gatewayAccount)
	w.sh("kubectl delete clusterrolebinding lead-sees-the-page")
}

// earlierBinding is one that was installed before its role had another name: a binding's role cannot be changed.
func (w *world) earlierBinding() {
	w.Helper()
	w.sh("kubectl create clusterrolebinding taskonce-gateway-metrics-auth --clusterrole=taskonce-metrics-auth-role --serviceaccount=taskonce-system:taskonce-gateway" +
		"; kubectl label clusterrolebinding taskonce-gateway-metrics-auth " + ofTheManifest)
}

// certificate writes the gateway's, and returns the paths.
func (w *world) certificate() (crt, key string) {
	w.Helper()
	text, private, err := selfSigned([]string{gatewayAccount + "." + system + ".svc"})
	w.must(err)
	w.must(put(w.dir, "tls.crt", text, 0o600))
	w.must(put(w.dir, "tls.key", private, 0o600))
	return filepath.Join(w.dir, "tls.crt"), filepath.Join(w.dir, "tls.key")
}

// door is a Service of the gateway's, for who trusts its certificate.
func (w *world) door(crt, name string) *door {
	w.Helper()
	w.nobodyIsLedToTheLast() // which may be set in another way
	service := &corev1.Service{}
	w.must(w.client.Get(w.Context(), client.ObjectKey{Namespace: system, Name: name}, service))
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM([]byte(readFile(w.T, crt)))
	transport := w.transport(&tls.Config{RootCAs: trusted, ServerName: gatewayAccount + "." + system + ".svc", MinVersion: tls.VersionTLS12})
	return &door{w, &http.Client{Transport: transport}, fmt.Sprintf("https://%s:%d", service.Spec.ClusterIP, service.Spec.Ports[0].Port)}
}

// open sends a request, and returns before its body has come.
func (d *door) open(token, method, path, key, body string) *http.Response {
	d.Helper()
	request, err := http.NewRequestWithContext(d.Context(), method, d.url+path, strings.NewReader(body))
	d.must(err)
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	if key != "" {
		request.Header.Set("Idempotency-Key", `"`+key+`"`)
	}
	response, err := d.by.Do(request)
	d.must(err)
	d.Cleanup(func() { response.Body.Close() })
	return response
}

func (d *door) submits(status int, token, namespace, key, template string) {
	d.Helper()
	response := d.open(token, http.MethodPost, "/v1/namespaces/"+namespace+"/submissions", key, `{"template":"`+template+`","parameters":{"order":"`+key+`"}}`)
	text, err := io.ReadAll(response.Body)
	d.must(err)
	if response.StatusCode != status {
		d.Fatalf("%s: %s, want %d: %s\n%s", key, response.Status, status, text, d.tails())
	}
}

// verifies submits as a student whose token the issuer has made, follows what waits, and asks for somebody else's.
func (d *door) verifies(namespace string, issuer *harness.Issuer) {
	d.Helper()
	student, err := issuer.Token(issuer.Key, map[string]any{"sub": "stu-7"})
	d.must(err)
	other, err := issuer.Token(issuer.Key, map[string]any{"sub": "stu-8"})
	d.must(err)
	d.submits(http.StatusCreated, student, namespace, "verified-1", "pay")
	d.submits(http.StatusForbidden, other, namespace, "verified-1", "pay")
	d.sh("kubectl create serviceaccount cluster -n " + namespace)
	d.submits(http.StatusUnauthorized, d.token(namespace, "cluster"), namespace, "verified-2", "pay")
	by := d.submission(namespace, "verified-1").Annotations
	if by[v1alpha1.AnnotationSubmittedBy] != harness.AccountUser(system, gatewayAccount) || by[v1alpha1.AnnotationOnBehalfOf] != issuer.URL+"#stu-7" {
		d.Errorf("it was submitted by %v", by)
	}
	invalid := &v1alpha1.TaskSubmission{}
	invalid.Namespace, invalid.Name, invalid.Spec.TemplateRef.Name = namespace, "verified-corrected", "nobody-wrote-it"
	d.must(d.client.Create(d.Context(), invalid))
	d.sh("kubectl patch tasksubmission verified-corrected -n " + namespace + ` --subresource=status --type=merge -p '{"status":{"phase":"Failed","reason":"InvalidParameters","observedGeneration":1}}'`)
	d.submits(http.StatusCreated, student, namespace, "verified-corrected", "pay") // it has made way
	waits := &v1alpha1.TaskSubmission{}
	waits.Namespace, waits.Name, waits.Annotations = namespace, "verified-waits", map[string]string{v1alpha1.AnnotationOnBehalfOf: issuer.URL + "#stu-7"}
	waits.Spec.TemplateRef.Name = "approve"
	d.must(d.client.Create(d.Context(), waits))
	events := bufio.NewReader(d.open(student, http.MethodGet, "/v1/namespaces/"+namespace+"/submissions/verified-waits/events", "", "").Body)
	if line, err := events.ReadString('\n'); err != nil || !strings.HasPrefix(line, ":") {
		d.Errorf("its events: %q, %v", line, err)
	}
	if let := d.open(other, http.MethodGet, "/v1/namespaces/"+namespace+"/submissions/verified-waits", "", ""); let.StatusCode != http.StatusOK {
		d.Errorf("its template's access, which asks what time it is in a place, lets nobody in: %s", let.Status)
	}
}

// metricsNeedARight reads the gateway's metrics by their Service, as somebody who may, and as somebody who may not.
func (d *door) metricsNeedARight() {
	d.Helper()
	d.sh(`kubectl create namespace monitoring 2>/dev/null || true
for account in prometheus stranger; do kubectl create serviceaccount $account -n monitoring 2>/dev/null || true; done
kubectl create clusterrolebinding prometheus-reads-taskonce --clusterrole=taskonce-metrics-reader --serviceaccount=monitoring:prometheus 2>/dev/null || true`)
	d.mayReadMetrics()
	service := &corev1.Service{}
	d.must(d.client.Get(d.Context(), client.ObjectKey{Namespace: system, Name: gatewayAccount + "-metrics-service"}, service))
	metrics := &door{d.world, &http.Client{Transport: d.transport(&tls.Config{InsecureSkipVerify: true})}, fmt.Sprintf("https://%s:9443", service.Spec.ClusterIP)} //nolint:gosec // it signs itself
	for name, want := range map[string]int{"prometheus": http.StatusOK, "stranger": http.StatusForbidden} {
		response := metrics.open(d.token("monitoring", name), http.MethodGet, "/metrics", "", "")
		text, err := io.ReadAll(response.Body)
		d.must(err)
		if response.StatusCode != want || want == http.StatusOK && !strings.Contains(string(text), "taskonce_gateway_streams") {
			d.Errorf("the gateway's metrics for %s: %s", name, response.Status)
		}
	}
}

func (w *world) submission(namespace, name string) *v1alpha1.TaskSubmission {
	w.Helper()
	found := &v1alpha1.TaskSubmission{}
	w.must(w.client.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: name}, found))
	return found
}
