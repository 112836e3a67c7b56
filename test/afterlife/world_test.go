package afterlife_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// patience is for one thing to come true.
const patience = 3 * time.Minute

// world is a cluster with the real operator and a receiver that logs every effect.
type world struct {
	*testing.T
	plane      *harness.ControlPlane
	client     client.WithWatch
	bin        string
	kubeconfig string // the manager's
	receiver   string
	ledger     string
	namespace  string
}

// newWorld starts a control plane and a receiver.
func newWorld(t *testing.T, options harness.Options) *world {
	t.Helper()
	ctrl.SetLogger(logr.Discard()) // envtest's own words are of no use here
	w := &world{T: t, bin: t.TempDir()}
	w.must(harness.Build(t.Context(), w.bin, "", "./cmd/manager", "./test/receiver"))
	plane, err := harness.Start(options)
	w.must(err)
	w.plane = plane
	t.Cleanup(func() { w.must(plane.Stop()) })
	scheme := runtime.NewScheme()
	w.must(clientgoscheme.AddToScheme(scheme))
	w.must(apiextensionsv1.AddToScheme(scheme))
	w.must(v1alpha1.AddToScheme(scheme))
	w.client, err = client.NewWithWatch(plane.Config, client.Options{Scheme: scheme})
	w.must(err)
	w.ledger = filepath.Join(plane.Dir, "ledger.jsonl")
	process, address, err := harness.LaunchReceiver(t.Context(), filepath.Join(w.bin, "receiver"), filepath.Join(plane.Dir, "receiver.log"), w.ledger)
	w.must(err)
	t.Cleanup(process.Kill)
	w.receiver = address
	w.kubeconfig, err = plane.ManagerKubeconfig(t.Context())
	w.must(err)
	w.namespace = w.newNamespace()
	return w
}

// operator starts the manager. It sweeps every second.
func (w *world) operator() *harness.Process {
	w.Helper()
	process, err := harness.Manager{
		Program: filepath.Join(w.bin, "manager"), Kubeconfig: w.kubeconfig, Log: filepath.Join(w.plane.Dir, "manager.log"),
		Flags: []string{"--sweep-interval=1s"},
	}.Start(w.Context())
	w.Cleanup(process.Kill)
	w.must(err)
	return process
}

func (w *world) newNamespace() string {
	w.Helper()
	name, err := w.plane.Namespace(w.Context())
	w.must(err)
	return name
}

// in is the same world, seen by a subtest.
func (w *world) in(t *testing.T) *world {
	same := *w
	same.T = t
	return &same
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// await waits until something is true.
func (w *world) await(what string, is func(context.Context) (bool, error)) {
	w.Helper()
	if err := wait.PollUntilContextTimeout(w.Context(), 50*time.Millisecond, patience, true, is); err != nil {
		w.Fatalf("%s: %v", what, err)
	}
}

// template makes a template that calls a behaviour of the receiver; more is lines of YAML for its spec.
func (w *world) template(namespace, name, behaviour, more string) {
	w.Helper()
	text := fmt.Sprintf(`apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: %s, namespace: %s}
spec:
  effect: {http: {url: "http://%s/%s/replay"%s`, name, namespace, w.receiver, behaviour, more)
	path := filepath.Join(w.TempDir(), name+".yaml")
	w.must(os.WriteFile(path, []byte(text), 0o600))
	w.kubectl("apply", "-f", path)
}

// manifest is what a client applies: no status, and nothing that the API server adds.
func manifest(namespace, name, template string) *v1alpha1.TaskSubmission {
	submission := &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	submission.APIVersion, submission.Kind = v1alpha1.GroupVersion.String(), "TaskSubmission"
	submission.Spec.TemplateRef.Name = template
	submission.Spec.Parameters = apiextensionsv1.JSON{Raw: []byte(`{"amount":7}`)}
	return submission
}

// file writes a manifest for kubectl.
func (w *world) file(submission *v1alpha1.TaskSubmission) string {
	w.Helper()
	raw, err := json.Marshal(map[string]any{
		"apiVersion": submission.APIVersion, "kind": submission.Kind, "spec": submission.Spec,
		"metadata": map[string]string{"name": submission.Name, "namespace": submission.Namespace},
	})
	w.must(err)
	path := filepath.Join(w.TempDir(), submission.Name+".json")
	w.must(os.WriteFile(path, raw, 0o600))
	return path
}

func (w *world) kubectl(args ...string) {
	w.Helper()
	_, _, err := w.plane.Kubectl(w.Context(), args...)
	w.must(err)
}

// finished waits until a submission of that name has finished, and returns it.
func (w *world) finished(namespace, name string) *v1alpha1.TaskSubmission {
	w.Helper()
	found := &v1alpha1.TaskSubmission{}
	w.await(name+" finishes", func(ctx context.Context) (bool, error) {
		err := w.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)
		return err == nil && found.Status.Phase.Terminal() && found.DeletionTimestamp == nil, client.IgnoreNotFound(err)
	})
	return found
}

// outcome creates a submission and returns it as it finished, although it may be removed before anybody looks.
func (w *world) outcome(submission *v1alpha1.TaskSubmission) *v1alpha1.TaskSubmission {
	w.Helper()
	w.must(w.client.Create(w.Context(), submission))
	events, err := w.client.Watch(w.Context(), &v1alpha1.TaskSubmissionList{}, client.InNamespace(submission.Namespace),
		client.MatchingFields{"metadata.name": submission.Name}, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: submission.ResourceVersion}})
	w.must(err)
	defer events.Stop()
	for deadline := time.After(patience); ; {
		select {
		case event, open := <-events.ResultChan():
			if now, ok := event.Object.(*v1alpha1.TaskSubmission); ok && now.UID == submission.UID && now.Status.Phase.Terminal() {
				return now
			} else if !open || !ok {
				w.Fatalf("%s cannot be watched: %v", submission.Name, event)
			}
		case <-deadline:
			w.Fatalf("%s does not finish", submission.Name)
		}
	}
}

// gone waits until an object does not exist.
func (w *world) gone(object client.Object) {
	w.Helper()
	w.await(fmt.Sprintf("%T %s goes", object, object.GetName()), func(ctx context.Context) (bool, error) {
		err := w.client.Get(ctx, client.ObjectKeyFromObject(object), object)
		return err != nil, client.IgnoreNotFound(err)
	})
}

// effects is how often the receiver has had the effect of a submission.
func (w *world) effects(namespace, name string) int {
	w.Helper()
	entries, err := ledger.Read(w.ledger)
	w.must(err)
	return len(ledger.Select(entries, ledger.Effect, namespace+"/"+name))
}
