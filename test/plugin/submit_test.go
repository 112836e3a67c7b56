package plugin_test

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestSubmitTellsWhatCameOfIt(t *testing.T) {
	w := newWorld(t)
	w.template("works", "/plain/orders")
	w.template("refuses", nobodyThere)
	w.template("vanishes", "/drop/orders")

	submit := []string{"submit", "works", "--key", "order:7", "-p", "order=7"}
	const name = "order-7-cxqdvbxt24oagl6vs7p4h2ebuv"
	w.expect(0, "tasksubmission.taskonce.dev/"+name+" Success/Applied\n", "", append(submit, "--wait")...)
	w.expect(0, "submitted before, with the same template and parameters\n", "", submit...)
	w.expect(4, "", `error: the key "order:7" belongs to the submission "`+name+`"`, "submit", "works", "--key", "order:7", "-p", "order=8")
	w.expect(4, "", `the submission "a" was refused: `, "submit", "works", "--key", "a", "--not-before=2027-01-02T00:00:00Z", "--not-after=2027-01-01T00:00:00Z")
	w.expect(1, "", "no template has the name", "submit", "No Such Name", "--key", "a")
	w.expect(2, "Failed/Rejected\n", "refused is Failed (Rejected): ", "submit", "refuses", "--key", "refused", "-p", "order=7", "--wait")
	w.expect(3, "Processing/OutcomeUnknown\n", "kubectl taskonce explain lost -n "+w.namespace, "submit", "vanishes", "--key", "lost", "-p", "order=7", "--wait")
	w.expect(3, "Pending", "late has not finished", "submit", "missing", "--key", "late", "--wait", "--timeout=10s")
	w.expect(1, "", "timed out after 2s; the last try: ", "submit", "works", "--key", "a", "--server=http://127.0.0.1:1", "--timeout=2s")
	if n := w.effects(name); n != 1 {
		t.Errorf("%d effects", n)
	}
}

// TestSubmittingFromTwentyProcesses at once is one submission, and one effect.
func TestSubmittingFromTwentyProcesses(t *testing.T) {
	w := newWorld(t)
	w.template("works", "/plain/orders")
	var first, before atomic.Int32
	var processes sync.WaitGroup
	for range 20 {
		processes.Go(func() {
			switch got := w.taskonce("submit", "works", "--key", "a", "-p", "order=7"); {
			case got.code == 0 && strings.HasSuffix(got.out, " submitted\n"):
				first.Add(1)
			case got.code == 0 && strings.Contains(got.out, "submitted before, with the same template and parameters"):
				before.Add(1)
			default:
				t.Errorf("%+v", got)
			}
		})
	}
	processes.Wait()
	if first.Load() != 1 || before.Load() != 19 {
		t.Errorf("%d were the first, and %d came later", first.Load(), before.Load())
	}
	w.expect(0, "a Success/Applied\n", "", "wait", "a")
	if n := w.effects("a"); n != 1 {
		t.Errorf("%d effects", n)
	}
}

func TestSubmitSaysWhatIsWrongBeforeItSendsAnything(t *testing.T) {
	w := newWorld(t)
	for says, args := range map[string][]string{
		"either --key or --key-part":      {"submit", "works"},
		"exactly one TEMPLATE":            {"submit", "--key=a"},
		"a file says all":                 {"submit", "works", "-f", "x.yaml"},
		"name=text or name:=JSON":         {"submit", "works", "--key=a", "-p", "order"},
		"is not JSON; for a text":         {"submit", "works", "--key=a", "-p", "order:=seven"},
		"given twice":                     {"submit", "works", "--key=a", "-p", "order=7", "-p", "order=8"},
		"is no time":                      {"submit", "works", "--key=a", "--not-after=tomorrow"},
		"write it as a string":            {"submit", "works", "--key=a", "-p", "n:=18446744073709551616"},
		"unable to match a printer":       {"submit", "works", "--key=a", "-o", "wide"},
		"invalid dry-run value":           {"submit", "works", "--key=a", "--dry-run=maybe"},
		"the key begins or ends":          {"submit", "works", "--key= a"},
		"unknown flag":                    {"submit", "works", "--kye=a"},
		"the path \"none.yaml\" does not": {"submit", "-f", "none.yaml"},
	} {
		w.expect(1, "", says, args...)
	}
	if there := w.kubectl("get", "tasksubmissions", "-o", "name"); there != "" {
		t.Errorf("submitted: %s", there)
	}
}

const nightRun = `
apiVersion: taskonce.dev/v1alpha1
kind: TaskSubmission
metadata: {name: first}
spec: {templateRef: {name: works}, parameters: {order: "1"}}
---
apiVersion: v1
kind: List
items:
- apiVersion: taskonce.dev/v1alpha1
  kind: TaskSubmission
  spec: {idempotencyKey: "second one", templateRef: {name: works}, parameters: {order: "2"}}
- apiVersion: taskonce.dev/v1alpha1
  kind: TaskSubmission
  metadata: {name: third}
  spec: {templateRef: {name: refuses}, parameters: {order: "3"}}
`

func TestSubmitManyFromAFile(t *testing.T) {
	w := newWorld(t)
	w.template("works", "/plain/orders")
	w.template("refuses", nobodyThere)

	got := w.taskonceWith(nightRun, "submit", "-f", "-", "--dry-run=client", "-o", "name")
	if want := "tasksubmission.taskonce.dev/first\ntasksubmission.taskonce.dev/second-one-4ruph62x636upweaidevaslxql\ntasksubmission.taskonce.dev/third\n"; got.out != want || got.code != 0 {
		t.Errorf("%+v", got)
	}
	if got := w.taskonceWith(nightRun, "submit", "-f", "-", "--dry-run=server"); got.code != 0 || strings.Count(got.out, "submitted (server dry run)\n") != 3 {
		t.Errorf("%+v", got)
	}
	if there := w.kubectl("get", "tasksubmissions", "-o", "name"); there != "" {
		t.Errorf("a dry run submitted %s", there)
	}
	for _, word := range []string{"submitted\n", "submitted before"} {
		if got := w.taskonceWith(nightRun, "submit", "-f", "-"); got.code != 0 || strings.Count(got.out, word) != 3 {
			t.Errorf("%+v", got)
		}
	}
	if got := w.taskonceWith(nightRun, "submit", "-f", "-", "--dry-run=server"); strings.Count(got.out, "submitted before, with the same template and parameters (server dry run)\n") != 3 {
		t.Errorf("%+v", got)
	}
	other := strings.ReplaceAll(nightRun, `order: "3"`, `order: "4"`)
	if got := w.taskonceWith(other, "submit", "-f", "-", "--dry-run=server"); got.code != 4 || !strings.Contains(got.err, `the key "third" belongs to`) {
		t.Errorf("%+v", got)
	}
	got = w.taskonceWith(nightRun, "wait", "-f", "-", "-o", "json")
	var list struct {
		Kind  string
		Items []struct{ Status struct{ Phase string } }
	}
	if err := json.Unmarshal([]byte(got.out), &list); err != nil || list.Kind != "List" || len(list.Items) != 3 || got.code != 2 {
		t.Errorf("%v: %+v", err, got)
	}
	if got := w.taskonceWith(strings.ReplaceAll(nightRun, "templateRef", "template"), "submit", "-f", "-"); got.code != 1 || !strings.Contains(got.err, `unknown field "spec.template"`) {
		t.Errorf("a misspelt field: %+v", got)
	}
	if got := w.taskonceWith("{apiVersion: v1, kind: Pod, metadata: {name: a}}", "submit", "-f", "-"); got.code != 1 || !strings.Contains(got.err, "it is a Pod") {
		t.Errorf("another kind: %+v", got)
	}
	w.expect(1, "", "does not match the namespace", "submit", "-f", w.file("{apiVersion: taskonce.dev/v1alpha1, kind: TaskSubmission, metadata: {name: a, namespace: elsewhere}, spec: {templateRef: {name: a}}}"), "-n", w.namespace)
}

func TestWaitAndResult(t *testing.T) {
	w := newWorld(t)
	w.template("works", "/plain/orders")
	w.template("refuses", nobodyThere)
	w.template("stopped", "/plain/orders", "  suspend: true")
	w.submit("works", "done")
	w.submit("refuses", "failed")
	w.submit("stopped", "stopped")

	w.expect(0, "tasksubmission.taskonce.dev/done Success/Applied\n", "", "wait", "done")
	w.expect(2, "done Success/Applied\n", "failed is Failed (Rejected)", "wait", "tasksubmission/done", "failed")
	w.reaches("stopped", "TemplateSuspended")
	w.expect(3, "stopped Pending/TemplateSuspended\n", "stopped has not finished", "wait", "--all", "--timeout=10s")
	w.expect(0, "done Success/Applied\n", "", "wait", "--field-selector=spec.templateRef.name=works")
	w.expect(1, "", `error: there is no submission "nobody"`, "wait", "nobody")
	w.expect(1, "", "exactly one of these", "wait", "done", "--all")

	if got := w.expect(0, `"receipt":`, "", "result", "done"); !json.Valid([]byte(got.out)) {
		t.Errorf("no JSON: %s", got.out)
	}
	w.expect(2, "", "failed is Failed (Rejected)", "result", "failed")
	w.expect(3, "", "has not finished (Pending/TemplateSuspended)", "result", "stopped")
	w.expect(1, "", "Error from server (NotFound): ", "result", "nobody")

	// What was deleted is not forgotten.
	w.kubectl("delete", "tasksubmission", "done", "failed")
	w.expect(0, `"receipt":`, "", "result", "done")
	w.expect(2, "", "failed is Failed (Rejected)", "result", "failed")
}

// TestReadingEndsWithAnInterrupt: nothing was sent, so there is nothing to find out.
func TestReadingEndsWithAnInterrupt(t *testing.T) {
	w := newWorld(t)
	cmd := exec.CommandContext(t.Context(), filepath.Join(installation.bin, "kubectl-taskonce"), "submit", "-f", "-")
	cmd.Env = append(installation.plane.Environ(installation.bin), "KUBECONFIG="+w.kubeconfig)
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// More than a pipe holds: once it is written, some of it was read.
	if _, err := io.WriteString(in, strings.Repeat("# a night run\n", 20_000)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(), "interrupt") {
		t.Errorf("%v: %s", err, said.String())
	}
}

// TestKubectlWait: a condition says that it is over, whatever came of it, and a removed submission is told at once.
func TestKubectlWait(t *testing.T) {
	w := newWorld(t)
	w.template("works", "/plain/orders")
	w.template("refuses", nobodyThere)
	for name, template := range map[string]string{"succeeds": "works", "fails": "refuses"} {
		w.submit(template, name)
		w.waits("--for=condition=Finished", "tasksubmission/"+name)
		w.kubectl("delete", "tasksubmission", name)
		if got := w.run("", installation.plane.Programs+"/kubectl", "wait", "--for=condition=Finished", "tasksubmission/"+name, "--timeout=30s"); got.code != 1 || !strings.Contains(got.err, "NotFound") {
			t.Errorf("%s, removed: %+v", name, got)
		}
		w.submit(template, name)
		w.waits("--for=condition=Finished", "tasksubmission/"+name)
		if w.status(name, "replayed") != "true" || w.effects(name) > 1 {
			t.Errorf("%s was carried out again", name)
		}
	}
}
