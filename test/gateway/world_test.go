package gateway_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// world is a namespace with an application in it, which may submit.
type world struct {
	*testing.T
	namespace string
	admin     client.WithWatch
	token     string // of the application
}

func newWorld(t *testing.T) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	admin, err := client.NewWithWatch(installation.plane.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, admin: admin}
	if w.namespace, err = installation.plane.Namespace(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.token = w.account("application")
	w.bind("taskonce-submitter", rbacv1.Subject{Kind: "ServiceAccount", Namespace: w.namespace, Name: "application"})
	w.bind(harness.GatewayServiceAccount, rbacv1.Subject{Kind: "ServiceAccount", Namespace: harness.ManagerNamespace, Name: harness.GatewayServiceAccount})
	return w
}

func (w *world) create(object client.Object) {
	w.Helper()
	object.SetNamespace(w.namespace)
	if err := w.admin.Create(w.Context(), object); err != nil {
		w.Fatal(err)
	}
}

// account makes a service account without rights, and returns a token of it.
func (w *world) account(name string) string {
	w.Helper()
	w.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}})
	token, err := installation.plane.Token(w.Context(), w.namespace, name)
	if err != nil {
		w.Fatal(err)
	}
	return token
}

func (w *world) bind(role string, to rbacv1.Subject) {
	w.Helper()
	w.create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}, Subjects: []rbacv1.Subject{to},
	})
	w.holds(to, role, w.namespace)
}

// holds waits until the API server knows of a binding: by the first thing that its role allows.
func (w *world) holds(to rbacv1.Subject, role, namespace string) {
	w.Helper()
	bound := &rbacv1.ClusterRole{}
	if err := w.admin.Get(w.Context(), client.ObjectKey{Name: role}, bound); err != nil {
		w.Fatal(err)
	}
	user, may := to.Name, bound.Rules[0]
	if to.Kind == rbacv1.ServiceAccountKind {
		user = harness.AccountUser(to.Namespace, to.Name)
	}
	if err := installation.plane.AwaitRight(w.Context(), user, harness.Right{Namespace: namespace, Verb: may.Verbs[0], Group: may.APIGroups[0], Resource: may.Resources[0]}); err != nil {
		w.Fatal(err)
	}
}

// everywhere makes an account that may submit in any namespace, and returns a token of it.
func (w *world) everywhere() string {
	w.Helper()
	token, everywhere := w.account("everywhere"), rbacv1.Subject{Kind: "ServiceAccount", Namespace: w.namespace, Name: "everywhere"}
	if err := w.admin.Create(w.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "taskonce-submitter"}, Subjects: []rbacv1.Subject{everywhere},
	}); err != nil {
		w.Fatal(err)
	}
	w.holds(everywhere, "taskonce-submitter", metav1.NamespaceAll)
	return token
}

// template makes one that calls the receiver at a path. What is submitted before it is Ready waits for that.
func (w *world) template(name, path string, edits ...func(*v1alpha1.TaskTemplateSpec)) {
	w.Helper()
	template := &v1alpha1.TaskTemplate{ObjectMeta: metav1.ObjectMeta{Name: name}}
	template.Spec.Effect.HTTP = &v1alpha1.HTTPEffect{HTTPRequest: v1alpha1.HTTPRequest{URL: "http://" + installation.receiver + path}}
	for _, edit := range edits {
		edit(&template.Spec)
	}
	w.create(template)
}

// effects is how often the receiver has applied something for a name.
func (w *world) effects(name string) int {
	w.Helper()
	entries, err := ledger.Read(filepath.Join(installation.plane.Dir, "ledger.jsonl"))
	if err != nil {
		w.Fatal(err)
	}
	return len(ledger.Select(entries, ledger.Effect, w.namespace+"/"+name))
}

func (w *world) submission(name string) *v1alpha1.TaskSubmission {
	w.Helper()
	found := &v1alpha1.TaskSubmission{}
	if err := w.admin.Get(w.Context(), key(w.namespace, name), found); err != nil {
		w.Fatal(err)
	}
	return found
}

// asked is a request to a gateway.
type asked struct {
	method, path string // below …/submissions
	header       map[string]string
	further      http.Header // lines of headers that come more than once
	body         string
}

// answered is what came back.
type answered struct {
	status int
	header http.Header
	body   []byte
}

type said struct {
	Name, Phase, Reason, Type, Detail, IdempotencyKey string
	Result                                            json.RawMessage
	Parameters                                        json.RawMessage
	Errors                                            []struct{ Where, What string }
	Submission                                        *struct{ Name, Phase, Reason string }
}

func (a answered) said(t *testing.T) (s said) {
	t.Helper()
	if err := json.Unmarshal(a.body, &s); err != nil {
		t.Fatalf("%d: %v: %s", a.status, err, a.body)
	}
	s.Type = strings.TrimPrefix(s.Type, "https://taskonce.dev/problems/")
	return s
}

// submits is a request to submit for order 7, unless edits say otherwise.
func submits(key, template string, edits ...func(*asked)) asked {
	a := asked{method: http.MethodPost, header: map[string]string{"Idempotency-Key": `"` + key + `"`, "Content-Type": "application/json"}, body: `{"template":"` + template + `","parameters":{"order":"7"}}`}
	for _, edit := range edits {
		edit(&a)
	}
	return a
}

func with(header, value string) func(*asked) { return func(a *asked) { a.header[header] = value } }

func also(header, value string) func(*asked) {
	return func(a *asked) { a.further = http.Header{header: {value}} }
}

func without(header string) func(*asked) { return func(a *asked) { delete(a.header, header) } }

func saying(body string) func(*asked) { return func(a *asked) { a.body = body } }

func reads(path string, edits ...func(*asked)) asked {
	a := asked{method: http.MethodGet, path: path, header: map[string]string{}}
	for _, edit := range edits {
		edit(&a)
	}
	return a
}

// open sends a request, and returns before its body has come.
func (w *world) open(gateway, token string, a asked) *http.Response {
	w.Helper()
	request, err := http.NewRequestWithContext(w.Context(), a.method, gateway+"/v1/namespaces/"+w.namespace+"/submissions"+a.path, bytes.NewReader([]byte(a.body)))
	if err != nil {
		w.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for name, value := range a.header {
		request.Header.Set(name, value)
	}
	for name, values := range a.further {
		request.Header[name] = append(request.Header[name], values...)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.Fatal(err)
	}
	return response
}

func (w *world) send(gateway, token string, a asked) answered {
	w.Helper()
	return w.read(w.open(gateway, token, a))
}

func (w *world) do(request *http.Request) answered {
	w.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.Fatal(err)
	}
	return w.read(response)
}

func (w *world) read(response *http.Response) answered {
	w.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		w.Fatal(err)
	}
	return answered{response.StatusCode, response.Header, body}
}

// expect sends a request and compares the status, and the type of the problem where there is one.
func (w *world) expect(status int, kind, gateway, token string, a asked) said {
	w.Helper()
	got := w.send(gateway, token, a)
	if said := got.said(w.T); got.status != status || said.Type != kind {
		w.Fatalf("%s %s: %d %q, want %d %q: %s", a.method, a.path, got.status, said.Type, status, kind, got.body)
	}
	return got.said(w.T)
}

func key(namespace, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: namespace, Name: name}
}

func rolebinding() client.Object { return &rbacv1.RoleBinding{} }

// schema takes an order, and nothing else.
func schema(s *v1alpha1.TaskTemplateSpec) {
	s.ParametersSchema = &v1alpha1.ParametersSchema{}
	s.ParametersSchema.OpenAPIV3Schema.Raw = []byte(`{"type":"object","required":["order"],"properties":{"order":{"type":"string"},"student":{"type":"string"}}}`)
}
