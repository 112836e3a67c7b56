package plugin_test

import (
	"strings"
	"sync"
	"testing"
)

const why = "--reason=because"

func TestApprove(t *testing.T) {
	w := newWorld(t)
	w.template("refund", "/plain/refunds", approved)
	w.submit("refund", "a")
	w.reaches("a", "AwaitingApproval")
	w.expect(1, "", "--reason is needed", "approve", "a")
	w.expect(0, "tasksubmission.taskonce.dev/a approved (dry run)\n", "", "approve", "a", why, "--dry-run=client")
	w.expect(0, "tasksubmission.taskonce.dev/a approved (server dry run)\n", "", "approve", "a", why, "--dry-run=server")
	w.expect(4, "", "is another one now", "approve", "a", why, "--template-digest=sha256:0123456789ab")
	if there := w.kubectl("get", "taskdecisions", "-o", "name"); there != "" {
		t.Fatalf("decided: %s", there)
	}
	w.expect(0, "tasksubmission.taskonce.dev/a approved\n", "", "approve", "a", why)
	w.expect(0, "a Success/Applied\n", "", "wait", "a")
	w.expect(1, "", "Error from server (NotFound): ", "approve", "nobody", why)
}

// TestApprovingTwiceInAHurryIsOneDecision has four people approve at once.
func TestApprovingTwiceInAHurryIsOneDecision(t *testing.T) {
	w := newWorld(t)
	w.template("refund", "/plain/refunds", approved)
	w.submit("refund", "a")
	w.reaches("a", "AwaitingApproval")
	digest := w.kubectl("get", "tasktemplate", "refund", "-o", "jsonpath={.status.effectDigest}")
	var mu sync.Mutex
	var first, already int
	var people sync.WaitGroup
	for range 4 {
		people.Go(func() {
			got := w.taskonce("approve", "a", why, "--template-digest="+digest[:20])
			mu.Lock()
			defer mu.Unlock()
			switch {
			case got.out == "tasksubmission.taskonce.dev/a approved\n":
				first++
			case strings.HasPrefix(got.out, "tasksubmission.taskonce.dev/a approved already, ") && strings.HasSuffix(got.out, ": because\n"):
				already++
			case got.code == 4 && strings.Contains(got.err, "it judges attempt 0"), got.code == 4 && strings.Contains(got.err, "finished"):
				already++ // it began, or ended, before this one looked
			default:
				t.Errorf("%+v", got)
			}
		})
	}
	people.Wait()
	if first != 1 || first+already != 4 {
		t.Errorf("%d approvals, %d that came too late", first, already)
	}
	w.expect(0, "a Success/Applied\n", "", "wait", "a")
	if n := w.effects("a"); n != 1 {
		t.Errorf("%d effects", n)
	}
}

func TestAnEditAsksAgain(t *testing.T) {
	w := newWorld(t)
	w.template("refund", "/plain/refunds", approved)
	w.submit("refund", "a")
	w.reaches("a", "AwaitingApproval")
	seen := w.kubectl("get", "tasktemplate", "refund", "-o", "jsonpath={.status.effectDigest}")
	w.template("refund", "/plain/other-refunds", approved)
	w.waits("--for=jsonpath={.status.observedGeneration}=2", "tasktemplate/refund")
	w.expect(4, "", "look at it again", "approve", "a", why, "--template-digest="+seen)
	// By hand, what was seen can still be approved: it is superseded, and changes nothing.
	uid := w.kubectl("get", "tasksubmission", "a", "-o", "jsonpath={.metadata.uid}")
	w.kubectlWith(`{apiVersion: taskonce.dev/v1alpha1, kind: TaskDecision, metadata: {name: by-hand}, spec: {submission: a, uid: `+uid+`, attempt: 0, action: Approve, reason: seen, templateDigest: "`+seen+`"}}`, "create", "-f", "-")
	w.waits("--for=jsonpath={.status.state}=Superseded", "taskdecision/by-hand")
	w.expect(0, "approved\n", "", "approve", "a", why)
	w.expect(0, "a Success/Applied\n", "", "wait", "a")
}

// TestCancel: what has certainly not happened is ended, and what may have is not.
func TestCancel(t *testing.T) {
	w := newWorld(t)
	w.template("refund", "/plain/refunds", approved)
	w.template("unreachable", "/plain/orders", laterAgain)
	w.edit("unreachable", `{"url":"http://127.0.0.1:1/"}`)
	w.template("vanishes", "/drop/orders", forOrder)
	w.template("slow", "/hold/orders")
	w.edit("slow", `{"timeout":"10m"}`)

	w.submit("refund", "awaiting")
	w.reaches("awaiting", "AwaitingApproval")
	w.submit("unreachable", "retrying")
	w.reaches("retrying", "Retrying")
	w.submit("vanishes", "unknown")
	w.reaches("unknown", "OutcomeUnknown")
	w.submit("vanishes", "held")
	w.reaches("held", "BusinessKeyHeld")
	w.submit("slow", "in-flight")
	w.reaches("in-flight", "Executing")

	for _, name := range []string{"awaiting", "retrying", "held"} {
		w.expect(0, "tasksubmission.taskonce.dev/"+name+" cancelled\n", "", "cancel", name, why)
		w.expect(2, "Failed/Cancelled\n", "because", "wait", name)
		w.expect(0, "cancelled already", "", "cancel", name, why)
		if n := w.effects(name); n != 0 {
			t.Errorf("%s: %d effects", name, n)
		}
	}
	for _, name := range []string{"in-flight", "unknown"} {
		w.expect(4, "", "the effect may have been applied", "cancel", name, why)
	}
	w.expect(4, "", "is final", "retry", "awaiting", why)
	w.expect(0, "retrying opened again\n", "", "retry", "retrying", why)
}

func TestRetry(t *testing.T) {
	w := newWorld(t)
	w.template("works", "/plain/orders")
	w.template("refuses", nobodyThere)
	w.submit("works", "done")
	w.submit("refuses", "refused")
	w.taskonce("wait", "done", "refused")
	w.expect(4, "", "only a failed submission can be retried", "retry", "done", why)
	w.edit("refuses", `{"url":"http://`+installation.receiver+`/plain/orders"}`)
	w.expect(0, "refused opened again\n", "", "retry", "refused", why)
	w.waits("--for=jsonpath={.status.phase}=Success", "tasksubmission/refused")
	if w.status("refused", "attempts") != "2" || w.effects("refused") != 1 || w.effects("done") != 1 {
		t.Errorf("%s attempts", w.status("refused", "attempts"))
	}
}

func TestConfirm(t *testing.T) {
	w := newWorld(t)
	w.template("vanishes", "/drop/orders")
	for _, name := range []string{"was", "was-not", "gone"} {
		w.submit("vanishes", name)
		w.reaches(name, "OutcomeUnknown")
	}
	w.expect(1, "", "--result", "confirm-applied", "was", why, "--result={")
	w.expect(0, "was confirmed as applied\n", "", "confirm-applied", "was", why, `--result={"printer": 3}`)
	w.expect(0, `{"printer":3}`+"\n", "", "result", "was")
	w.expect(0, "was confirmed as applied already", "", "confirm-applied", "was", why)
	w.expect(4, "", "the submission has finished", "confirm-not-applied", "was", why)
	w.expect(0, "was-not confirmed as not applied\n", "", "confirm-not-applied", "was-not", why)
	w.expect(2, "Failed/ConfirmedNotApplied\n", "because", "wait", "was-not")

	// A submission that was deleted meanwhile is still asked about, and answered for.
	w.kubectl("delete", "tasksubmission", "gone")
	w.expect(0, "gone ", "", "inbox", "-n", w.namespace)
	w.expect(0, "yes; its record", "", "explain", "gone")
	w.expect(0, "gone confirmed as applied\n", "", "confirm-applied", "gone", why)
	w.submit("vanishes", "gone")
	w.reaches("gone", "ConfirmedApplied")
	if n := w.effects("gone"); n != 1 {
		t.Errorf("%d effects", n)
	}
}

// TestRelease: the business key is free for a new idempotency key, and the old one still replays.
func TestRelease(t *testing.T) {
	w := newWorld(t)
	w.template("award", "/plain/awards", forOrder)
	w.submit("award", "old")
	w.expect(0, "old Success/Applied\n", "", "wait", "old")
	w.submit("award", "too-early")
	w.reaches("too-early", "AlreadyApplied")
	result := w.status("old", "result")
	w.expect(4, "", "it holds no business key", "release", "too-early", why)
	w.expect(0, "old released\n", "", "release", "old", why)
	w.submit("award", "new")
	w.reaches("new", "Applied")
	w.kubectl("delete", "tasksubmission", "old")
	w.submit("award", "old")
	w.reaches("old", "Applied")
	if w.effects("old") != 1 || w.effects("new") != 1 || w.status("old", "result") != result || w.status("new", "result") == result {
		t.Errorf("old %d, new %d, %s", w.effects("old"), w.effects("new"), w.status("old", "result"))
	}
}

func TestDecidingAboutMany(t *testing.T) {
	w := newWorld(t)
	w.template("refund", "/plain/refunds", approved)
	w.template("works", "/plain/orders")
	for _, name := range []string{"a", "b", "c"} {
		w.submit("refund", name)
		w.reaches(name, "AwaitingApproval")
	}
	w.submit("works", "done")
	w.reaches("done", "Applied")

	got := w.expect(1, "", "give --yes", "approve", "--all", why)
	for _, wanted := range []string{"Approve, because: because", "NAMESPACE ", `{"order":"7"}`, "Left out, since it is of no use there: 1"} {
		if !strings.Contains(got.err, wanted) {
			t.Errorf("the preview lacks %q:\n%s", wanted, got.err)
		}
	}
	w.expect(1, "", "give --yes", "approve", "a", "b", why)
	if there := w.kubectl("get", "taskdecisions", "-o", "name"); there != "" {
		t.Fatalf("decided without a yes: %s", there)
	}
	if got := w.taskonce("approve", "-f", w.file(w.kubectl("get", "tasksubmission", "a", "-o", "yaml")), why, "-o", "name"); got.code != 0 || !strings.HasPrefix(got.out, "taskdecision.taskonce.dev/a-approve-") {
		t.Errorf("from a file: %+v", got)
	}
	w.kubectl("label", "tasksubmission", "b", "checked=yes")
	if got := w.taskonce("approve", "-l", "checked=yes", why, "--yes"); got.code != 0 || got.out != "tasksubmission.taskonce.dev/b approved\n" {
		t.Errorf("by label: %+v", got)
	}
	w.reaches("a", "Applied")
	w.reaches("b", "Applied") // else they are found, too
	if got := w.taskonce("cancel", "--field-selector=status.reason=AwaitingApproval", why, "--yes"); got.code != 0 || got.out != "tasksubmission.taskonce.dev/c cancelled\n" {
		t.Errorf("by field: %+v", got)
	}
	w.reaches("c", "Cancelled")
	w.expect(0, "", "of no use for any of the 4", "approve", "--all", why, "--yes")
	w.expect(0, "", "No resources found.", "approve", "-l", "checked=no", why, "--yes")
}
