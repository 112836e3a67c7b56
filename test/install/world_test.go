package install_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// patience is for one thing to come true.
const patience = 2 * time.Minute

// cluster is what all tests share: a control plane, a node, a receiver, and what the pages tell to run.
type cluster struct {
	plane    *harness.ControlPlane
	client   client.Client
	node     *node
	routes   *routes
	image    *image
	audit    string // the path of the API server's log of what the operator asks
	bin      string // where kubectl and helm are, for the pages
	root     string
	receiver string
	ledger   string
}

var shared cluster

func TestMain(m *testing.M) {
	harness.Main(func() (int, error) { return run(m) })
}

func run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir, err := os.MkdirTemp("", "install")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := shared.build(ctx, dir); err != nil {
		return 1, err
	}
	stop, err := shared.start(ctx, dir)
	defer func() { err = errors.Join(err, stop()) }()
	if err != nil {
		return 1, err
	}
	code = m.Run()
	cancel()
	return code, nil
}

// build makes the image, and the programs beside it: the receiver and helm.
func (c *cluster) build(ctx context.Context, dir string) (err error) {
	if c.root, err = harness.Root(); err != nil {
		return err
	}
	c.bin = filepath.Join(dir, "bin")
	if err := harness.Build(ctx, c.bin, "", "./test/receiver"); err != nil {
		return err
	}
	if err := c.makeImage(dir); err != nil {
		return err
	}
	find := exec.CommandContext(ctx, "go", "tool", "-modfile=hack/helm/go.mod", "-n", "helm")
	find.Dir, find.Env, find.Stderr = c.root, append(os.Environ(), "GOWORK=off"), os.Stderr
	helm, err := find.Output()
	if err != nil {
		return fmt.Errorf("go tool helm: %w", err)
	}
	return os.Symlink(strings.TrimSpace(string(helm)), filepath.Join(c.bin, "helm"))
}

// auditPolicy has everything logged that the operator asks for, wherever it is installed: watches when they begin and when
// they end.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: None
`

func (c *cluster) start(ctx context.Context, dir string) (stop func() error, err error) {
	var stops []func() error
	stop = func() error {
		var errs []error
		for i := len(stops) - 1; i >= 0; i-- {
			errs = append(errs, stops[i]())
		}
		return errors.Join(errs...)
	}
	c.node = &node{image: c.image, dir: filepath.Join(dir, "node"), failed: func(err error) { fmt.Fprintln(os.Stderr, "node:", err) }}
	if err := os.Mkdir(c.node.dir, 0o755); err != nil { //nolint:gosec // pods' roots are in it
		return stop, err
	}
	c.routes = &routes{node: c.node, dir: dir}
	egress, err := c.routes.open()
	if err != nil {
		return stop, err
	}
	policy := filepath.Join(dir, "audit.yaml")
	c.audit = filepath.Join(dir, "audit.log")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return stop, err
	}
	c.plane, err = harness.Start(harness.Options{
		Controllers: []string{"deployment-controller", "replicaset-controller", "job-controller", "namespace-controller", "garbage-collector-controller", "clusterrole-aggregation-controller"},
		APIServerFlags: map[string]string{
			"egress-selector-config-file": egress, "audit-policy-file": policy, "audit-log-path": c.audit,
			"enable-admission-plugins": "OwnerReferencesPermissionEnforcement",
		},
	})
	if err != nil {
		return stop, err
	}
	stops = append(stops, c.plane.Stop)
	if err := c.connect(); err != nil {
		return stop, err
	}
	go c.routes.serve(ctx)
	receiver, address, err := harness.LaunchReceiver(ctx, filepath.Join(c.bin, "receiver"), filepath.Join(dir, "receiver.log"), filepath.Join(dir, "ledger.jsonl"))
	if err != nil {
		return stop, err
	}
	stops = append(stops, func() error { receiver.Kill(); return nil })
	c.receiver, c.ledger = address, filepath.Join(dir, "ledger.jsonl")
	return stop, c.node.start(ctx)
}

func (c *cluster) connect() (err error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return err
	}
	if c.client, err = client.New(c.plane.Config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	c.node.plane = c.plane
	if c.node.clients, err = kubernetes.NewForConfig(c.plane.Config); err != nil {
		return err
	}
	c.node.front, err = newFront(c.plane.Config)
	return err
}

// world is the cluster, seen by a test.
type world struct {
	*testing.T
	*cluster
	dir   string
	begun time.Time
}

func newWorld(t *testing.T) *world {
	return &world{T: t, cluster: &shared, dir: t.TempDir(), begun: time.Now()}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// clearsAway has a test that installs take everything away, also where it could not go on: else all that come after it fail.
func (w *world) clearsAway() {
	w.Cleanup(func() {
		if !w.Failed() {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
		defer cancel()
		out, err := w.command(ctx, "bash", "-c", clearAway).CombinedOutput()
		w.Logf("taken away after the failure: %v\n%s", err, out)
	})
}

// clearAway removes whatever any of these tests installs: first what could refuse to let the rest go.
const clearAway = `
for kind in mutatingwebhookconfigurations validatingwebhookconfigurations validatingadmissionpolicybindings validatingadmissionpolicies \
  customresourcedefinitions clusterrolebindings clusterroles; do
  kubectl get "$kind" -o name | grep -E 'taskonce|cert-manager|former|somebody-elses' | xargs -r kubectl delete --timeout=60s
done
kubectl delete namespace taskonce-system taskonce-team shop monitoring --ignore-not-found --timeout=120s
`

// await waits until something is true.
func (w *world) await(what string, is func(context.Context) (bool, error)) {
	w.Helper()
	if err := wait.PollUntilContextTimeout(w.Context(), 50*time.Millisecond, patience, true, is); err != nil {
		w.Fatalf("%s: %v\n%s", what, err, w.tails())
	}
}

// tails are the last lines of every manager that runs.
func (w *world) tails() string {
	var all []string
	for _, path := range w.node.logs() {
		all = append(all, filepath.Base(path)+":\n"+(&process{log: path}).logTail())
	}
	return strings.Join(all, "\n")
}

// sh runs a script as somebody does who follows the pages, in the repository's folder.
func (w *world) sh(script string) string {
	w.Helper()
	out, err := w.try(script)
	if err != nil {
		w.Fatalf("%v:\n%s\n%s", err, out, w.tails())
	}
	return out
}

func (w *world) try(script string) (string, error) {
	ctx, cancel := context.WithTimeout(w.Context(), 2*patience)
	defer cancel()
	out, err := w.command(ctx, "bash", "-euxo", "pipefail", "-c", script).CombinedOutput()
	return string(out), err
}

// command is one in the repository's folder that finds kubectl, helm and the cluster.
func (w *world) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = w.root
	cmd.Env = append(w.plane.Environ(w.bin), "HELM_CACHE_HOME="+w.dir, "HELM_CONFIG_HOME="+w.dir, "HELM_DATA_HOME="+w.dir)
	return cmd
}

// effects is how often the receiver has had each effect of a namespace, by the name of the submission.
func (w *world) effects(namespace string) map[string]int {
	w.Helper()
	entries, err := ledger.Read(w.ledger)
	w.must(err)
	counts := map[string]int{}
	for _, entry := range entries {
		if name, ok := strings.CutPrefix(entry.Key, namespace+"/"); ok && entry.Kind == ledger.Effect {
			counts[name]++
		}
	}
	return counts
}

// read returns a file of the repository.
func (w *world) read(path string) string {
	w.Helper()
	return readFile(w.T, filepath.Join(w.root, path))
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
