package harness_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/taskonce/taskonce/test/harness"
)

// holdIn names a folder in the environment of the process that TestNothingOutlivesAKilledTest kills.
const holdIn = "TASKONCE_HARNESS_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdIn); dir != "" {
		hold(dir)
	}
	if os.Getenv(drawIn) != "" {
		draw()
		return
	}
	os.Exit(m.Run())
}

// hold runs a control plane in a folder until this process is killed.
func hold(dir string) {
	if _, err := harness.Start(harness.Options{Dir: dir}); err != nil {
		panic(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "up"), nil, 0o600); err != nil {
		panic(err)
	}
	select {}
}

func start(t *testing.T, options harness.Options) *harness.ControlPlane {
	t.Helper()
	c, err := harness.Start(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func kubectl(t *testing.T, c *harness.ControlPlane, args ...string) string {
	t.Helper()
	stdout, _, err := c.Kubectl(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(stdout)
}

func TestStateOutlivesTheRun(t *testing.T) {
	options := harness.Options{Dir: t.TempDir(), CRDs: true}

	first := start(t, options)
	namespace, err := first.Namespace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, first, "apply", "-n", namespace, "-k", "config/samples")
	if _, err := os.Stat(filepath.Join(options.Dir, "run", "discovered", "discovery")); err != nil {
		t.Errorf("kubectl keeps what it discovers where the next control plane of this port finds it: %v", err)
	}
	manager, err := first.ManagerKubeconfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token := load(t, manager).BearerToken
	if _, err := harness.Start(options); err == nil || !strings.Contains(err.Error(), "another control plane is using") {
		t.Errorf("a second control plane in one folder: %v", err)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}

	second := start(t, options)
	if got := kubectl(t, second, "get", "-n", namespace, "-k", "config/samples", "-o", "name"); !strings.Contains(got, "tasktemplate.taskonce.dev/award-points") {
		t.Errorf("after a restart there are: %s", got)
	}
	// Tokens are still good: the key that signs them is kept, and the issuer does not change with the port.
	config := &rest.Config{Host: second.Config.Host, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: second.Config.CAData}}
	if _, err := kubernetes.NewForConfigOrDie(config).ServerVersion(); err != nil {
		t.Error(err)
	}
}

func TestTheManagerHasExactlyItsRights(t *testing.T) {
	c := start(t, harness.Options{CRDs: true})
	path, err := c.ManagerKubeconfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		verb, resource string
		want           string
		reason         string
	}{
		{"create", "taskrecords.taskonce.dev", "yes", "it writes records"},
		{"update", "tasksubmissions.taskonce.dev --subresource=status", "yes", "it writes status"},
		{"update", "tasksubmissions.taskonce.dev", "no", "a submission is the client's"},
		{"patch", "tasksubmissions.taskonce.dev", "yes", "it labels what failed without a record with when it is due"},
		{"delete", "tasksubmissions.taskonce.dev", "yes", "it removes those whose time is over"},
		{"delete", "taskdecisions.taskonce.dev", "yes", "they go with their record"},
		{"create", "taskdecisions.taskonce.dev", "no", "people decide"},
		{"deletecollection", "tasksubmissions.taskonce.dev", "no", "it removes one by one, as it was read"},
		{"get", "secrets", "yes", "headers come from Secrets"},
		{"create", "jobs.batch", "yes", "an effect may be a Job"},
		{"update", "jobs.batch", "no", "a Job is changed by patches of what is the operator's in it"},
		{"list", "pods", "yes", "they hold exit codes and termination messages"},
		{"create", "pods", "no", "the Job controller makes them"},
		{"list", "secrets", "no", "Secrets are read one by one"},
		{"create", "secrets", "no", "the one that it makes is in its own namespace"},
		{"create", "secrets -n " + harness.ManagerNamespace, "yes", "the webhooks' certificate"},
		{"update", "secrets/taskonce-webhook-cert -n " + harness.ManagerNamespace, "yes", "it renews the webhooks' certificate"},
		{"update", "secrets/other -n " + harness.ManagerNamespace, "no", "other Secrets are not its own"},
		{"create", "subjectaccessreviews.authorization.k8s.io", "yes", "it asks for the rights of a template's author"},
		{"update", "mutatingwebhookconfigurations.admissionregistration.k8s.io/taskonce-admission", "yes", "it tells the API server whom to trust"},
		{"update", "mutatingwebhookconfigurations.admissionregistration.k8s.io/other", "no", "other webhooks are not its own"},
		{"patch", "taskrecords.taskonce.dev", "no", "records change by compare-and-swap of the whole"},
		{"update", "leases.coordination.k8s.io/taskonce.dev -n " + harness.ManagerNamespace, "yes", "it may elect a leader"},
		{"update", "leases.coordination.k8s.io/other -n " + harness.ManagerNamespace, "no", "others elect theirs"},
		{"update", "leases.coordination.k8s.io", "no", "its lease is in its own namespace"},
	} {
		args := append([]string{"--kubeconfig", path, "-n", "default", "auth", "can-i", tt.verb}, strings.Fields(tt.resource)...)
		stdout, _, _ := c.Kubectl(t.Context(), args...) // it fails where the answer is no
		if got := strings.TrimSpace(stdout); got != tt.want {
			t.Errorf("%s %s: %s, want %s: %s", tt.verb, tt.resource, got, tt.want, tt.reason)
		}
	}
}

func TestTheAPIServerCanBeRestarted(t *testing.T) {
	c := start(t, harness.Options{})
	clients := kubernetes.NewForConfigOrDie(c.Config)
	if err := c.StopAPIServer(); err != nil {
		t.Fatal(err)
	}
	if _, err := clients.ServerVersion(); err == nil {
		t.Error("it answers although it was stopped")
	}
	if err := c.StartAPIServer(); err != nil {
		t.Fatal(err)
	}
	if _, err := clients.ServerVersion(); err != nil {
		t.Error(err)
	}
}

func TestNothingOutlivesAKilledTest(t *testing.T) {
	dir := t.TempDir()
	holder := exec.CommandContext(t.Context(), os.Args[0])
	holder.Env = append(os.Environ(), holdIn+"="+dir)
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the control plane is up", func() bool {
		_, err := os.Stat(filepath.Join(dir, "up"))
		return err == nil
	})
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait()
	eventually(t, "its programs have ended", func() bool { return len(running(t, dir)) == 0 })
}

// running returns the processes that were started with a path inside dir.
func running(t *testing.T, dir string) []int {
	t.Helper()
	var pids []int
	for _, line := range commandLines(t) {
		fields := strings.Fields(line)
		if len(fields) < 2 || !strings.Contains(line, dir) {
			continue
		}
		if pid, err := strconv.Atoi(fields[0]); err == nil && syscall.Kill(pid, 0) == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// commandLines returns "pid command" of every process: from /proc where there is one, since a small machine has no ps.
func commandLines(t *testing.T) []string {
	t.Helper()
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var lines []string
	for _, file := range files {
		if command, err := os.ReadFile(file); err == nil {
			lines = append(lines, filepath.Base(filepath.Dir(file))+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	if len(lines) > 0 {
		return lines
	}
	listed, err := exec.CommandContext(t.Context(), "ps", "-eo", "pid=,args=").Output()
	if err != nil {
		t.Fatalf("neither /proc nor ps says what runs: %v", err)
	}
	return strings.Split(string(listed), "\n")
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for !condition() {
		select {
		case <-ctx.Done():
			t.Fatalf("not so after two minutes: %s", what)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func load(t *testing.T, kubeconfig string) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return config
}
