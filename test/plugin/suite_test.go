// Package plugin_test runs the built kubectl plugin as people do, against a real API server with the real operator and
// a receiver that misbehaves.
package plugin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/test/harness"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// installation is what all tests share.
var installation struct {
	plane    *harness.ControlPlane
	bin      string
	receiver string
}

func TestMain(m *testing.M) {
	harness.Main(func() (int, error) { return run(m) })
}

func run(m *testing.M) (code int, err error) {
	ctx := context.Background()
	if installation.bin, err = os.MkdirTemp("", "plugin"); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(installation.bin)) }()
	if err := harness.Build(ctx, installation.bin, "", "./cmd/manager", "./cmd/kubectl-taskonce", "./test/receiver"); err != nil {
		return 1, err
	}
	plane, err := harness.Start(harness.Options{CRDs: true})
	if err != nil {
		return 1, err
	}
	installation.plane = plane
	defer func() { err = errors.Join(err, plane.Stop()) }()
	receiver, address, err := harness.LaunchReceiver(ctx, filepath.Join(installation.bin, "receiver"), filepath.Join(plane.Dir, "receiver.log"), filepath.Join(plane.Dir, "ledger.jsonl"))
	if err != nil {
		return 1, err
	}
	installation.receiver = address
	defer receiver.Kill()
	kubeconfig, err := plane.ManagerKubeconfig(ctx)
	if err != nil {
		return 1, err
	}
	manager, err := harness.Manager{
		Program: filepath.Join(installation.bin, "manager"), Kubeconfig: kubeconfig, Log: filepath.Join(plane.Dir, "manager.log"),
	}.Start(ctx)
	if err != nil {
		return 1, err
	}
	defer manager.Kill()
	return m.Run(), nil
}

// world is a namespace, and somebody at a shell in it.
type world struct {
	*testing.T
	namespace  string
	kubeconfig string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return newWorldBeside(t)
}

// newWorldBeside is another namespace of the same test.
func newWorldBeside(t *testing.T) *world {
	t.Helper()
	namespace, err := installation.plane.Namespace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, namespace: namespace, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	text, err := os.ReadFile(installation.plane.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.kubeconfig, text, 0o600); err != nil {
		t.Fatal(err)
	}
	w.kubectl("config", "set-context", "--current", "--namespace="+namespace)
	return w
}

// said is what a command printed, and its exit code.
type said struct {
	out, err string
	code     int
}

func (w *world) run(stdin, program string, args ...string) said {
	w.Helper()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(w.Context(), program, args...)
	cmd.Env = append(installation.plane.Environ(installation.bin), "KUBECONFIG="+w.kubeconfig)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	err := cmd.Run()
	if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) {
		w.Fatal(err)
	}
	return said{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

// kubectl runs it, and expects it to succeed.
func (w *world) kubectl(args ...string) string {
	w.Helper()
	return w.kubectlWith("", args...)
}

func (w *world) kubectlWith(stdin string, args ...string) string {
	w.Helper()
	got := w.run(stdin, filepath.Join(installation.plane.Programs, "kubectl"), args...)
	if got.code != 0 {
		w.Fatalf("kubectl %s: %s", strings.Join(args, " "), got.err)
	}
	return strings.TrimSpace(got.out)
}

// taskonce runs the plugin through kubectl, as people do.
func (w *world) taskonce(args ...string) said {
	w.Helper()
	return w.taskonceWith("", args...)
}

func (w *world) taskonceWith(stdin string, args ...string) said {
	w.Helper()
	return w.run(stdin, filepath.Join(installation.plane.Programs, "kubectl"), append([]string{"taskonce"}, args...)...)
}

// expect runs the plugin and compares: the exit code, and what its output and its complaints hold. An empty expectation of
// a stream says that there is nothing.
func (w *world) expect(code int, out, complaint string, args ...string) said {
	w.Helper()
	got := w.taskonce(args...)
	holds := func(text, wanted string) bool {
		return text == wanted || wanted != "" && strings.Contains(text, wanted)
	}
	if got.code != code || !holds(got.out, out) || !holds(got.err, complaint) {
		w.Errorf("kubectl taskonce %s: code %d, want %d\n--- stdout (want %q)\n%s--- stderr (want %q)\n%s", strings.Join(args, " "), got.code, code, out, got.out, complaint, got.err)
	}
	return got
}

// template applies a template that calls the receiver at a path.
func (w *world) template(name, path string, more ...string) {
	w.Helper()
	w.kubectlWith(fmt.Sprintf(`
apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: %s}
spec:
  effect: {http: {url: "http://%s%s", timeout: 30s}}
%s
`, name, installation.receiver, path, strings.Join(more, "\n")), "apply", "-f", "-")
	w.waits("--for=condition=Ready", "tasktemplate/"+name)
}

// edit changes the effect of a template, and returns when the operator goes by that.
func (w *world) edit(name, effect string) {
	w.Helper()
	generation := w.kubectl("patch", "tasktemplate", name, "--type=merge", "-p", `{"spec":{"effect":{"http":`+effect+`}}}`, "-o", "jsonpath={.metadata.generation}")
	w.waits("--for=jsonpath={.status.observedGeneration}="+generation, "tasktemplate/"+name)
}

// waits has kubectl wait, for longer than anything takes.
func (w *world) waits(what, object string) {
	w.Helper()
	w.kubectl("wait", what, object, "--timeout=2m")
}

const (
	approved    = "  approval: {required: true}"
	forOrder    = `  businessKey: "${params.order}"`
	laterAgain  = "  retry: {maxAttempts: 9, initialDelay: 10m, maxDelay: 10m}"
	nobodyThere = "/nowhere" // the receiver knows no such behaviour: 404
)

// submit submits an action for an order.
func (w *world) submit(template, key string) {
	w.Helper()
	w.expect(0, "submitted", "", "submit", template, "--key", key, "-p", "order=7")
}

// reaches waits until a submission has a reason.
func (w *world) reaches(name, reason string) {
	w.Helper()
	w.waits("--for=jsonpath={.status.reason}="+reason, "tasksubmission/"+name)
}

// status reads one field of a status.
func (w *world) status(name, field string) string {
	w.Helper()
	return w.kubectl("get", "tasksubmission", name, "-o", "jsonpath={.status."+field+"}")
}

// effects is how often the receiver has applied something for a submission.
func (w *world) effects(name string) int {
	w.Helper()
	entries, err := ledger.Read(filepath.Join(installation.plane.Dir, "ledger.jsonl"))
	if err != nil {
		w.Fatal(err)
	}
	return len(ledger.Select(entries, ledger.Effect, w.namespace+"/"+name))
}
