package plugin_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func (w *world) file(text string) string {
	w.Helper()
	path := filepath.Join(w.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return path
}

// contains compares what a command printed with what must be in it.
func (w *world) contains(text string, wanted ...string) {
	w.Helper()
	for _, each := range wanted {
		if !strings.Contains(text, each) {
			w.Errorf("%q is missing in\n%s", each, text)
		}
	}
}

func TestInboxListsWhatWaitsForAPerson(t *testing.T) {
	w, other := newWorld(t), newWorldBeside(t)
	w.template("refund", "/plain/refunds", approved)
	w.template("vanishes", "/drop/orders", forOrder)
	w.template("works", "/plain/orders")
	other.template("stopped", "/plain/orders", "  suspend: true")

	w.submit("works", "done")
	w.reaches("done", "Applied")
	w.submit("vanishes", "lost")
	w.reaches("lost", "OutcomeUnknown")
	w.submit("vanishes", "held")
	w.reaches("held", "BusinessKeyHeld")
	w.submit("refund", "needs")
	w.reaches("needs", "AwaitingApproval")
	w.submit("nowhere", "orphan")
	w.reaches("orphan", "TemplateNotFound")
	other.submit("stopped", "elsewhere")
	other.reaches("elsewhere", "TemplateSuspended")

	names := func(text string) (names []string) {
		for line := range strings.Lines(text) {
			if fields := strings.Fields(line); len(fields) > 4 && (fields[0] == w.namespace || fields[0] == other.namespace) {
				names = append(names, fields[1])
			}
		}
		return names
	}
	// Times have seconds, and what is of one second is in the order of the names.
	got := w.expect(0, "NAMESPACE ", "", "inbox")
	if all := names(got.out); len(all) != 4 || !slices.Contains(all, "elsewhere") {
		t.Errorf("in all namespaces: %s; want what is in both\n%s", all, got.out)
	}
	got = w.expect(0, "NAMESPACE ", "", "inbox", "-n", w.namespace)
	if all := strings.Join(names(got.out), " "); all != "lost needs orphan" {
		t.Errorf("in one namespace, oldest first: %s\n%s", all, got.out)
	}
	w.contains(got.out, "an answer: did it happen?", "an approval", "its template", "kubectl taskonce explain NAME -n NAMESPACE")
	if got := w.taskonce("inbox", "-n", other.namespace, "-o", "name"); got.out != "tasksubmission.taskonce.dev/elsewhere\n" {
		t.Errorf("-o name: %+v", got)
	}
	w.expect(0, "", "Nothing waits for a person.", "inbox", "-n", "default")
}

// TestWhatIsToldCanBeDone follows the commands that explain shows.
func TestWhatIsToldCanBeDone(t *testing.T) {
	w := newWorld(t)
	w.template("vanishes", "/drop/orders", forOrder)
	w.template("refund", "/plain/refunds", approved)
	w.submit("vanishes", "lost")
	w.reaches("lost", "OutcomeUnknown")
	w.submit("vanishes", "held")
	w.reaches("held", "BusinessKeyHeld")
	w.submit("refund", "asks")
	w.reaches("asks", "AwaitingApproval")

	w.do("held", "explain")
	w.do("asks", "approve")
	w.do("lost", "confirm-applied")
	w.reaches("held", "AlreadyApplied")
	w.do("lost", "release")
	got := w.expect(0, "What to do:", "", "explain", "lost", "asks")
	w.contains(got.out, "attempt 1 begun ", ": Applied; at first: ", "ConfirmApplied by somebody ", "Release by somebody ", "for attempt 1, because: …", "ended as Success/ConfirmedApplied", "Approve by somebody")
	if got := w.taskonce("get", "lost", "-o", "name"); got.out != "tasksubmission.taskonce.dev/lost\ntaskrecord.taskonce.dev/ik-"+
		strings.TrimPrefix(w.status("lost", "recordName"), "ik-")+"\n"+w.kubectl("get", "taskdecisions", "--field-selector=spec.submission=lost", "--sort-by=.metadata.creationTimestamp", "-o", "name")+"\n" {
		t.Errorf("its objects: %s", got.out)
	}
}

// do runs the first command of the explanation that has a word in it.
func (w *world) do(name, word string) {
	w.Helper()
	told := w.expect(0, "What to do:", "", "explain", name).out
	for line := range strings.Lines(told) {
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "kubectl taskonce "+word); ok {
			if got := w.run("", "bash", "-c", "kubectl taskonce "+word+command); got.code != 0 {
				w.Errorf("%s%s: %+v", word, command, got)
			}
			return
		}
	}
	w.Errorf("no %s among\n%s", word, told)
}

// TestWhoMayOnlySubmit sees what came of it, and is told what is kept from them.
func TestWhoMayOnlySubmit(t *testing.T) {
	w := newWorld(t)
	w.kubectl("create", "rolebinding", "application", "--clusterrole=taskonce-submitter", "--serviceaccount="+w.namespace+":application")
	as := "--as=system:serviceaccount:" + w.namespace + ":application"
	w.template("works", "/plain/orders")
	w.template("refuses", nobodyThere)
	w.expect(0, "done Success/Applied\n", "", "submit", "works", "--key", "done", "-p", "order=7", "--wait", as)
	w.expect(2, "failed Failed/Rejected\n", "Rejected", "submit", "refuses", "--key", "failed", "-p", "order=7", "--wait", as)

	w.expect(0, `"receipt":`, "", "result", "done", as)
	w.expect(2, "", "failed is Failed (Rejected)", "result", "failed", as)
	w.expect(1, "", "which you may not read", "result", "nobody", as)
	got := w.expect(0, "What to do:", "", "explain", "done", "failed", as)
	w.contains(got.out, "It is done, for good.", "attempts so far: 1; what came of each is in its record, which you may not read", "have it tried again by somebody who may decide")
	w.expect(0, "tasksubmission.taskonce.dev/done\n", "", "explain", "done", "-o", "name", as)
	w.expect(1, "", "Error from server (Forbidden): taskrecords.taskonce.dev ", "retry", "failed", why, as)
	w.expect(1, "", `the submission "theirs" was not created: `, "submit", "works", "--key", "theirs", "--as=nobody")
}

func TestRenderShowsWhatWouldBeSent(t *testing.T) {
	w := newWorld(t)
	w.template("award", "/plain/orders/${params.order}", forOrder)
	got := w.expect(0, "businessKey: a/b\n", "", "render", "award", "-p", "order=a/b")
	w.contains(got.out, "/plain/orders/a%2Fb\n")
	w.expect(1, "", "Error from server (NotFound): ", "render", "nothing")
}

// TestRenderIsWhatIsSent compares it with what a receiver gets.
func TestRenderIsWhatIsSent(t *testing.T) {
	w := newWorld(t)
	got := make(chan *http.Request, 1)
	bodies := make(chan []byte, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- r
		bodies <- raw
	}))
	t.Cleanup(receiver.Close)
	w.kubectlWith(`
apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: tell}
spec:
  effect:
    http:
      url: "`+receiver.URL+`/${params.callback}"
      headers: [{name: X-Callback, value: "to ${params.callback} at ${attempt}"}]
      body: {url: "${params.callback}", result: "${submission.name}", classify: [1.10, "$${x}"], n: "${params.n}", secretKeyRef: {name: "${params.callback}", key: k}}
`, "apply", "-f", "-")
	given := []string{"--key=a", "-p", "callback=https://shop.example/?a=b", "-p", "n:=9007199254740993"}
	said := w.expect(0, `"url"`, "", append([]string{"render", "tell", "-o", "json"}, given...)...)
	w.expect(0, "Success/Applied", "", append([]string{"submit", "tell", "--wait"}, given...)...)
	var rendered struct {
		Effect struct {
			HTTP struct {
				URL     string
				Headers []struct{ Value string }
				Body    json.RawMessage
			}
		}
	}
	if err := json.Unmarshal([]byte(said.out), &rendered); err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	if err := json.Compact(&body, rendered.Effect.HTTP.Body); err != nil {
		t.Fatal(err)
	}
	sent, raw := <-got, <-bodies
	if url := receiver.URL + sent.RequestURI; rendered.Effect.HTTP.URL != url || rendered.Effect.HTTP.Headers[0].Value != sent.Header.Get("X-Callback") || body.String() != string(raw) {
		t.Errorf("rendered:\n%s\nsent: %s, %s\n%s", said.out, url, sent.Header.Get("X-Callback"), raw)
	}
}

func TestCompletion(t *testing.T) {
	w := newWorld(t)
	w.template("refund", "/plain/refunds", approved)
	w.template("works", "/plain/orders")
	w.submit("refund", "asks")
	w.reaches("asks", "AwaitingApproval")
	w.submit("works", "done")
	w.reaches("done", "Applied")
	for args, want := range map[string]string{
		"approve": "asks\tPending/AwaitingApproval\n:4\n",
		"result":  "done\tSuccess/Applied\n:4\n",
		"retry":   ":4\n",
		"submit":  "refund\nworks\n:4\n",
		"wait":    "asks\tPending/AwaitingApproval\n:4\n",
	} {
		if got := w.taskonce("__complete", args, ""); got.out != want {
			t.Errorf("%s: %q", args, got.out)
		}
	}
}
