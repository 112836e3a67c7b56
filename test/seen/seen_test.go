// Package seen looks at a running operator from outside, as those who operate it do: probes, metrics, the audit log and
// profiles of the real process.
package seen

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/santhosh-tekuri/jsonschema/v6"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/taskonce/taskonce/test/harness"
)

const template = `apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: work}
spec:
  retry: {maxAttempts: 1}
  effect: {http: {url: "http://NOBODY/"}}
`

const submissions = `apiVersion: taskonce.dev/v1alpha1
kind: TaskSubmission
metadata:
  name: a
  annotations: {taskonce.dev/traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01}
spec: {templateRef: {name: work}}
---
apiVersion: taskonce.dev/v1alpha1
kind: TaskSubmission
metadata: {name: b}
spec: {templateRef: {name: invented-by-a-submitter}}
`

// operator is a process of the manager in a control plane of its own.
type operator struct {
	plane           *harness.ControlPlane
	process         *harness.Process
	namespace       string
	probes, metrics string
	profiles, audit string
}

func TestARunningOperator(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	o := start(t)
	o.submit(t)
	t.Run("is alive and ready", o.isReady)
	t.Run("shows metrics to who may read them", o.showsMetrics)
	t.Run("has written what it did", o.hasWritten)
	t.Run("serves profiles where it is told to", func(t *testing.T) {
		if code, _ := ask(t, "http://"+o.profiles+"/debug/pprof/cmdline", ""); code != http.StatusOK {
			t.Errorf("profiles answer %d", code)
		}
	})
	t.Run("is not ready, and lives on, while the API server is away", o.losesTheAPIServer)
}

func start(t *testing.T) *operator {
	t.Helper()
	bin := t.TempDir()
	must(t, harness.Build(t.Context(), bin, "", "./cmd/manager"))
	plane, err := harness.Start(harness.Options{CRDs: true})
	must(t, err)
	t.Cleanup(func() { must(t, plane.Stop()) })
	o := &operator{plane: plane, audit: filepath.Join(bin, "audit.log")}
	for _, address := range []*string{&o.probes, &o.metrics, &o.profiles} {
		*address, err = harness.UnusedAddress()
		must(t, err)
	}
	kubeconfig, err := plane.ManagerKubeconfig(t.Context())
	must(t, err)
	o.process, err = harness.Manager{
		Program: filepath.Join(bin, "manager"), Kubeconfig: kubeconfig, Log: filepath.Join(bin, "manager.log"), Probe: o.probes,
		Flags: []string{"--metrics-bind-address=" + o.metrics, "--pprof-bind-address=" + o.profiles, "--audit-log=" + o.audit},
	}.Start(t.Context())
	must(t, err)
	t.Cleanup(func() { must(t, o.process.Stop(time.Minute)) })
	o.namespace, err = plane.Namespace(t.Context())
	must(t, err)
	return o
}

// submit has one submission tried in vain, and another one wait for ever.
func (o *operator) submit(t *testing.T) {
	t.Helper()
	nobody, err := harness.UnusedAddress()
	must(t, err)
	o.apply(t, strings.Replace(template, "NOBODY", nobody, 1))
	o.waits(t, "--for=condition=Ready", "tasktemplate/work") // else a submission may be seen before it, and wait
	o.apply(t, submissions)
	o.waits(t, "--for=jsonpath={.status.reason}=RetriesExhausted", "tasksubmission/a")
	o.waits(t, "--for=jsonpath={.status.reason}=TemplateNotFound", "tasksubmission/b")
}

func (o *operator) apply(t *testing.T, manifests string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifests.yaml")
	must(t, os.WriteFile(path, []byte(manifests), 0o600))
	o.kubectl(t, "-n", o.namespace, "apply", "-f", path)
}

func (o *operator) waits(t *testing.T, what, object string) {
	t.Helper()
	o.kubectl(t, "-n", o.namespace, "wait", what, object, "--timeout=2m")
}

func (o *operator) isReady(t *testing.T) {
	for _, path := range []string{"/healthz", "/readyz", "/readyz/cache", "/readyz/api-server"} {
		answers(t, "http://"+o.probes+path, "", http.StatusOK)
	}
}

func (o *operator) showsMetrics(t *testing.T) {
	metrics := "https://" + o.metrics + "/metrics"
	answers(t, metrics, "", http.StatusUnauthorized)
	answers(t, metrics, o.account(t, "anybody"), http.StatusForbidden)
	o.kubectl(t, "create", "clusterrolebinding", "reads", "--clusterrole=taskonce-metrics-reader", "--serviceaccount="+o.namespace+":reader")
	reader := o.account(t, "reader")
	for _, want := range []string{
		`taskonce_submissions_finished_total{phase="Failed",reason="RetriesExhausted",template="work"} 1.0`,
		`taskonce_submissions{phase="Pending",reason="TemplateNotFound",template="unknown"} 1.0`,
		`taskonce_attempts_total{effect="http",outcome="NotApplied",template="work"} 1.0`,
		`# {trace_id="4bf92f3577b34da6a3ce929d0e0e4736"}`,
		"taskonce_max_in_flight 512.0",
		"rest_client_requests_total{",
	} {
		eventually(t, "the metrics have "+want, func() (bool, string) { // what kubectl has seen the operator may not have heard yet
			_, text := ask(t, metrics, reader)
			return strings.Contains(text, want), text
		})
	}
	if _, text := ask(t, metrics, reader); strings.Contains(text, "invented-by-a-submitter") {
		t.Error("a name that a submitter invented has a series")
	}
}

// account makes a service account and returns its token.
func (o *operator) account(t *testing.T, name string) string {
	t.Helper()
	o.kubectl(t, "-n", o.namespace, "create", "serviceaccount", name)
	return strings.TrimSpace(o.kubectl(t, "-n", o.namespace, "create", "token", name))
}

// hasWritten reads the audit log by its schema.
func (o *operator) hasWritten(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile("../../docs/audit.schema.json")
	must(t, err)
	text, err := os.ReadFile(o.audit)
	must(t, err)
	var told []string
	for line := range bytes.Lines(text) {
		free, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err == nil {
			err = schema.Validate(free)
		}
		if err != nil {
			t.Errorf("%v: %s", err, line)
		}
		var entry struct{ Name, From, To, Trace string }
		must(t, json.Unmarshal(line, &entry))
		if entry.Name == "a" {
			told = append(told, entry.From+" > "+entry.To+" "+entry.Trace)
		}
	}
	const trace = " 4bf92f3577b34da6a3ce929d0e0e4736"
	want := []string{"Pending/Accepted > Processing/Executing" + trace, "Processing/Executing > Failed/RetriesExhausted" + trace}
	if strings.Join(told, "\n") != strings.Join(want, "\n") {
		t.Errorf("of a submission it has written\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

func (o *operator) losesTheAPIServer(t *testing.T) {
	must(t, o.plane.KillAPIServer())
	answers(t, "http://"+o.probes+"/readyz/api-server", "", http.StatusInternalServerError)
	if code, said := ask(t, "http://"+o.probes+"/readyz", ""); code == http.StatusOK {
		t.Errorf("it is ready: %s", said)
	}
	if code, said := ask(t, "http://"+o.probes+"/healthz", ""); code != http.StatusOK {
		t.Errorf("it would be started again, in vain: %d: %s", code, said)
	}
	must(t, o.plane.StartAPIServer())
	answers(t, "http://"+o.probes+"/readyz", "", http.StatusOK)
}

func (o *operator) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	said, _, err := o.plane.Kubectl(t.Context(), args...)
	must(t, err)
	return said
}

// client trusts anybody: the certificate of the metrics is made by the process for itself.
var client = &http.Client{Transport: &http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true, //nolint:gosec // see above
}}

// ask gets what a URL answers, as OpenMetrics where it can. What does not answer at all answers 0.
func ask(t *testing.T, url, token string) (code int, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	must(t, err)
	request.Header.Set("Accept", "application/openmetrics-text; version=1.0.0, */*;q=0.1")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer.StatusCode, string(body)
}

// answers waits until a URL answers with a code: what is looked at on the way may not have been in time before.
func answers(t *testing.T, url, token string, wanted int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s answers %d", url, wanted), func() (bool, string) {
		code, said := ask(t, url, token)
		return code == wanted, fmt.Sprintf("%d: %s", code, said)
	})
}

// eventually waits for what comes by itself. Where it does not come, what was seen last is said.
func eventually(t *testing.T, what string, look func() (holds bool, seen string)) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	for {
		holds, seen := look()
		if holds {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("it did not come to that: %s\n%s", what, seen)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
