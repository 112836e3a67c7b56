package admission_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

const forgetful = `apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: work}
spec:
  businessKey: "${params.order}"
  retry: {maxAttempts: 1}
  retention: {recordTTL: 1s}
  effect: {http: {url: "http://RECEIVER/"}}
`

const once = `apiVersion: taskonce.dev/v1alpha1
kind: TaskSubmission
metadata: {name: grant-42}
spec: {templateRef: {name: work}, parameters: {order: "7"}}
`

// TestTheRealManager runs the program as it is deployed: it gets its certificate and is trusted, refuses at the door, and
// lets its own records and claims go, which a person does not by a slip.
func TestTheRealManager(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	r := deploy(t)
	r.apply(t, strings.Replace(forgetful, "RECEIVER", r.nobody, 1))
	if said := r.refused(t, "apply", "-f", r.file(t, strings.Replace(once, "grant-42", "Grant.42", 1))); !strings.Contains(said, "InvalidName") {
		t.Errorf("a wrong name is told: %s", said)
	}
	r.apply(t, once)
	r.kubectl(t, "wait", "--for=jsonpath={.status.reason}=RetriesExhausted", "tasksubmission/grant-42", "--timeout=60s")
	if said := r.refused(t, "delete", "taskrecord", v1alpha1.ClaimName("work", "7")); !strings.Contains(said, "taskonce.dev/forget") {
		t.Errorf("a claim is deleted by hand: %s", said)
	}
	r.kubectl(t, "delete", "tasksubmission", "grant-42")
	r.kubectl(t, "wait", "--for=delete", "taskrecord/"+v1alpha1.ClaimName("work", "7"), "taskrecord/"+v1alpha1.RecordName("grant-42"), "--timeout=60s")
}

// deployed is the manager's process in a control plane of its own.
type deployed struct {
	plane             *harness.ControlPlane
	namespace, nobody string
}

func deploy(t *testing.T) *deployed {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	bin := t.TempDir()
	must(harness.Build(t.Context(), bin, "", "./cmd/manager"))
	plane, err := harness.Start(harness.Options{CRDs: true})
	must(err)
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	kubeconfig, err := plane.ManagerKubeconfig(t.Context())
	must(err)
	webhooks, err := harness.UnusedAddress()
	must(err)
	must(plane.InstallAdmission(t.Context(), webhooks))
	process, err := harness.Manager{
		Program: filepath.Join(bin, "manager"), Kubeconfig: kubeconfig, Log: filepath.Join(bin, "manager.log"),
		Webhooks: webhooks, Flags: []string{"--sweep-interval=1s"},
	}.Start(t.Context())
	if process != nil {
		t.Cleanup(func() {
			if err := process.Stop(time.Minute); err != nil {
				t.Error(err)
			}
		})
	}
	must(err)
	must(plane.AwaitWebhooks(t.Context()))
	namespace, err := plane.Namespace(t.Context())
	must(err)
	nobody, err := harness.UnusedAddress()
	must(err)
	return &deployed{plane, namespace, nobody}
}

func (r *deployed) file(t *testing.T, manifest string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (r *deployed) apply(t *testing.T, manifest string) {
	t.Helper()
	r.kubectl(t, "apply", "-f", r.file(t, manifest))
}

func (r *deployed) kubectl(t *testing.T, args ...string) {
	t.Helper()
	if _, _, err := r.plane.Kubectl(t.Context(), append([]string{"-n", r.namespace}, args...)...); err != nil {
		t.Fatal(err)
	}
}

func (r *deployed) refused(t *testing.T, args ...string) string {
	t.Helper()
	_, said, err := r.plane.Kubectl(t.Context(), append([]string{"-n", r.namespace}, args...)...)
	if err == nil {
		t.Errorf("it was not refused: kubectl %s", strings.Join(args, " "))
	}
	return said
}
