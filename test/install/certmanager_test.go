package install_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kind is a CRD that takes anything.
const kind = `
kubectl apply -f - <<'END'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.cert-manager.io}
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: KIND, plural: PLURAL}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
END
kubectl wait --for=condition=Established crd/PLURAL.cert-manager.io --timeout=60s
`

// TestCertManager has cert-manager keep the webhooks' certificate: played, since it needs images. It makes the Secret that the
// Certificate asks for, and tells the webhooks whom to trust where their annotation asks for it.
func TestCertManager(t *testing.T) {
	w := newWorld(t)
	w.clearsAway()
	for _, each := range []string{"Issuer", "Certificate"} {
		w.sh(strings.NewReplacer("KIND", each, "PLURAL", strings.ToLower(each)+"s").Replace(kind))
	}
	w.sh("kubectl create namespace taskonce-system")
	w.sh("helm install taskonce dist/chart -n taskonce-system --set webhook.certificate.source=cert-manager " + valuesForTests)
	w.playCertManager()
	w.sh("kubectl rollout status deployment/taskonce-controller-manager -n taskonce-system --timeout=120s")
	w.sh("helm test taskonce -n taskonce-system")
	namespace := w.mainJob(nil)
	out, err := w.try("kubectl apply -n " + namespace + ` -f - <<'END'
apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: misspelt}
spec: {effect: {http: {url: "http://receiver.example/${params.}"}}}
END`)
	if err == nil || !strings.Contains(out, "spec.effect.http.url: Invalid value") {
		t.Errorf("the webhook did not refuse a template that does not compile: %s", out)
	}
	for verb, want := range map[string]string{"get": "yes", "create": "no", "update": "no"} {
		if out := w.sh("kubectl auth can-i " + verb + " secrets -n taskonce-system --as=system:serviceaccount:taskonce-system:taskonce-controller-manager || true"); lastLine(out) != want {
			t.Errorf("may it %s Secrets? %s, want %s", verb, out, want)
		}
	}
	w.aStrangerReadsNoMetrics()
	w.sh("kubectl delete service taskonce-webhook-service -n taskonce-system")
	w.failsByItself(namespace)
	w.rightsAreExact(system, account)
	w.sh("helm uninstall taskonce -n taskonce-system --wait; kubectl delete namespace taskonce-system --timeout=120s; kubectl delete -k config/crd --timeout=120s")
	w.sh("kubectl delete crd issuers.cert-manager.io certificates.cert-manager.io")
	w.nothingIsLeft()
}

func (w *world) playCertManager() {
	w.Helper()
	certificate := &unstructured.Unstructured{}
	certificate.SetGroupVersionKind(schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"})
	w.must(w.client.Get(w.Context(), client.ObjectKey{Namespace: system, Name: "taskonce-webhook"}, certificate))
	names, _, err := unstructured.NestedStringSlice(certificate.Object, "spec", "dnsNames")
	w.must(err)
	name, _, err := unstructured.NestedString(certificate.Object, "spec", "secretName")
	w.must(err)
	crt, key, err := selfSigned(names)
	w.must(err)
	w.sh(fmt.Sprintf("kubectl create secret generic %s -n taskonce-system --from-literal=tls.crt='%s' --from-literal=tls.key='%s'", name, crt, key))
	for _, configuration := range []string{"mutatingwebhookconfiguration", "validatingwebhookconfiguration"} {
		from := lastLine(w.sh("kubectl get " + configuration + ` taskonce-admission -o jsonpath='{.metadata.annotations.cert-manager\.io/inject-ca-from}'`))
		if from != system+"/taskonce-webhook" {
			w.Errorf("%s says to trust %q", configuration, from)
		}
		bundle := base64.StdEncoding.EncodeToString(crt)
		for i := range strings.Fields(lastLine(w.sh("kubectl get " + configuration + " taskonce-admission -o jsonpath='{.webhooks[*].name}'"))) {
			w.sh(fmt.Sprintf(`kubectl patch %s taskonce-admission --type=json -p '[{"op":"add","path":"/webhooks/%d/clientConfig/caBundle","value":%q}]'`, configuration, i, bundle))
		}
	}
}

// selfSigned makes a certificate and its key, as PEM.
func selfSigned(names []string) (crt, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "played"}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	encode := func(kind string, der []byte) []byte {
		return bytes.TrimSpace(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", pkcs8), nil
}
