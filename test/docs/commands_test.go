package docs_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/taskonce/taskonce/test/harness"
)

// sampleReceiver is the address that documents and samples name: the receiver of make dev. The test has one of its own.
const sampleReceiver = "127.0.0.1:8090"

// patience is for one whole document.
const patience = 5 * time.Minute

// reader is somebody who follows the documents: a folder with the samples, a control plane, the operator, a receiver.
type reader struct {
	plane    *harness.ControlPlane
	dir      string
	bin      string // where the manager, the receiver and the kubectl plugin are
	manager  *harness.Process
	receiver string
}

// TestEverythingThatIsShownWorks follows every document from top to bottom, each in a namespace of its own.
func TestEverythingThatIsShownWorks(t *testing.T) {
	scripts := map[*document]string{}
	all := documents(t)
	for _, d := range all {
		scripts[d] = d.script(t)
	}
	r := newReader(t)
	for _, d := range all {
		if scripts[d] == "" {
			continue
		}
		t.Run(d.path, func(t *testing.T) {
			kubeconfig := r.kubeconfig(t)
			r.run(t, kubeconfig, scripts[d])
			r.templatesCompile(t, d, kubeconfig)
			r.columns(t, d, kubeconfig)
			r.sessions(t, d, kubeconfig)
		})
	}
}

func newReader(t *testing.T) *reader {
	t.Helper()
	ctrl.SetLogger(logr.Discard()) // envtest's own words are of no use here
	r := &reader{dir: t.TempDir(), bin: t.TempDir()}
	if err := harness.Build(t.Context(), r.bin, "", "./cmd/manager", "./cmd/kubectl-taskonce", "./test/receiver"); err != nil {
		t.Fatal(err)
	}
	plane, err := harness.Start(harness.Options{CRDs: true, Controllers: []string{"job-controller"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	r.plane = plane
	containers := func(context.Context, *corev1.Pod) harness.Exit { return harness.Exit{Message: `{"played": true}`} }
	if err := plane.PlayPods(t.Context(), "", containers, func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
	r.startReceiver(t)
	r.copySamples(t)
	kubeconfig, err := plane.ManagerKubeconfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	webhooks, err := harness.UnusedAddress()
	if err != nil {
		t.Fatal(err)
	}
	if err := plane.InstallAdmission(t.Context(), webhooks); err != nil {
		t.Fatal(err)
	}
	r.manager, err = harness.Manager{Program: filepath.Join(r.bin, "manager"), Kubeconfig: kubeconfig, Log: filepath.Join(plane.Dir, "manager.log"), Webhooks: webhooks}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.manager.Kill)
	if err := plane.AwaitWebhooks(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *reader) startReceiver(t *testing.T) {
	t.Helper()
	p, address, err := harness.LaunchReceiver(t.Context(), filepath.Join(r.bin, "receiver"), filepath.Join(r.plane.Dir, "receiver.log"), filepath.Join(r.plane.Dir, "ledger.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	r.receiver = address
}

// copySamples makes a config folder like the repository's, whose samples call the test's receiver.
func (r *reader) copySamples(t *testing.T) {
	t.Helper()
	config := filepath.Join(r.dir, "config")
	if err := os.CopyFS(config, os.DirFS(filepath.Join(root(t), "config"))); err != nil {
		t.Fatal(err)
	}
	samples, err := filepath.Glob(filepath.Join(config, "samples", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range samples {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(r.redirected(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *reader) redirected(text string) string {
	return strings.ReplaceAll(text, sampleReceiver, r.receiver)
}

// kubeconfig returns the path of one whose namespace is new.
func (r *reader) kubeconfig(t *testing.T) string {
	t.Helper()
	namespace, err := r.plane.Namespace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(r.plane.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.plane.Kubectl(t.Context(), "--kubeconfig="+path, "config", "set-context", "--current", "--namespace="+namespace); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs a document's script. Its trace begins each line with the place in the document.
func (r *reader) run(t *testing.T, kubeconfig, script string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte(r.redirected(script)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bash := exec.Command("bash", "-eu", "-o", "pipefail", path)
	bash.Dir = r.dir
	bash.Env = r.environment(kubeconfig)
	timer := time.AfterFunc(patience, func() { _ = bash.Process.Kill() })
	defer timer.Stop()
	if out, err := bash.CombinedOutput(); err != nil {
		t.Fatalf("the last command that is shown here failed (%v):\n%s%s", err, out, r.managerState(t))
	}
}

// environment has kubectl with its plugin, and the document's cluster.
func (r *reader) environment(kubeconfig string) []string {
	return append(r.plane.Environ(r.bin), "KUBECONFIG="+kubeconfig)
}

// managerState says why nothing happens, where that is because the operator has ended.
func (r *reader) managerState(t *testing.T) string {
	t.Helper()
	select {
	case <-r.manager.Done:
		return "\n" + r.manager.EndedByItself().Error()
	default:
		return ""
	}
}

// templatesCompile has the operator say that each template of the document can be used.
func (r *reader) templatesCompile(t *testing.T, d *document, kubeconfig string) {
	t.Helper()
	args := []string{"--kubeconfig=" + kubeconfig, "wait", "--for=condition=Ready", "--timeout=2m", "tasktemplates", "--all"}
	if names, _, err := r.plane.Kubectl(t.Context(), args[0], "get", "tasktemplates", "-o", "name"); err != nil || names == "" {
		return // there is none
	}
	if _, _, err := r.plane.Kubectl(t.Context(), args...); err != nil {
		said, _, _ := r.plane.Kubectl(t.Context(), args[0], "get", "tasktemplates", "-o", "wide")
		t.Errorf("a template of %s is not Ready: %v\n%s", d.path, err, said)
	}
}

// columns compares the first line of each table that is shown with what kubectl prints.
func (r *reader) columns(t *testing.T, d *document, kubeconfig string) {
	t.Helper()
	for _, b := range d.blocks {
		command, ok := strings.CutPrefix(d.lines[b.open+1], "$ kubectl get ")
		if b.language != "console" || !ok {
			continue
		}
		table, _, err := r.plane.Kubectl(t.Context(), append([]string{"--kubeconfig=" + kubeconfig, "get"}, strings.Fields(command)...)...)
		if err != nil {
			t.Errorf("%s:%d: %v", d.path, b.open+2, err)
			continue
		}
		header, _, _ := strings.Cut(table, "\n")
		if got, want := strings.Fields(header), strings.Fields(d.lines[b.open+2]); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s:%d: the columns are %q, and kubectl prints %q", d.path, b.open+3, want, got)
		}
	}
}
