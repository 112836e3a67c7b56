// Package afterlife_test takes finished actions away in every way that there is, has them come back, and counts at the
// receiver.
package afterlife_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

// route is one way in which a finished action goes and comes back.
type route struct {
	name     string
	template string // plain: a receiver that recognises nothing
	// walk leads there and returns what the submission came to in the end.
	walk func(w *world, first *v1alpha1.TaskSubmission) (last *v1alpha1.TaskSubmission)
	// effects is what the receiver counts, over all namespaces.
	effects int
	// other says that the result is a new one: nothing remembers the first.
	other bool
}

// words keeps out of the names of folders what kubectl takes for something else.
var words = regexp.MustCompile(`[^a-zA-Z0-9]+`)

var routes = []route{
	{name: "created twice", walk: func(w *world, first *v1alpha1.TaskSubmission) *v1alpha1.TaskSubmission {
		if err := w.client.Create(w.Context(), manifest(first.Namespace, first.Name, "plain")); !apierrors.IsAlreadyExists(err) {
			w.Errorf("the API server took the second: %v", err)
		}
		return w.finished(first.Namespace, first.Name)
	}, effects: 1},
	{name: "kubectl delete, apply", walk: func(w *world, first *v1alpha1.TaskSubmission) *v1alpha1.TaskSubmission {
		w.kubectl("delete", "tsub", first.Name, "-n", first.Namespace)
		w.kubectl("apply", "-f", w.file(manifest(first.Namespace, first.Name, "plain")))
		return w.finished(first.Namespace, first.Name)
	}, effects: 1},
	{name: "kubectl delete --force, apply", walk: func(w *world, first *v1alpha1.TaskSubmission) *v1alpha1.TaskSubmission {
		w.kubectl("delete", "tsub", first.Name, "-n", first.Namespace, "--force", "--grace-period=0")
		w.kubectl("apply", "-f", w.file(manifest(first.Namespace, first.Name, "plain")))
		return w.finished(first.Namespace, first.Name)
	}, effects: 1},
	{name: "kubectl replace --force", walk: func(w *world, first *v1alpha1.TaskSubmission) *v1alpha1.TaskSubmission {
		w.kubectl("replace", "--force", "-f", w.file(manifest(first.Namespace, first.Name, "plain")))
		return w.finished(first.Namespace, first.Name)
	}, effects: 1},
	{name: "removed by submissionTTL, applied again, three times", template: "short", walk: func(w *world, first *v1alpha1.TaskSubmission) *v1alpha1.TaskSubmission {
		last := first
		for range 3 {
			w.gone(last.DeepCopy())
			last = w.outcome(manifest(first.Namespace, first.Name, "short"))
		}
		return last
	}, effects: 1},
	{name: "applied on the server by GitOps, five times", walk: appliedByGitOps, effects: 1},
	{name: "restored without status: submissions", walk: func(w *world, first *v1alpha1.TaskSubmission) *v1alpha1.TaskSubmission {
		w.must(w.client.Delete(w.Context(), first.DeepCopy()))
		w.must(w.client.Create(w.Context(), restored(first)))
		return w.finished(first.Namespace, first.Name)
	}, effects: 1},
	{name: "restored: records; the submission is applied", walk: func(w *world, first *v1alpha1.TaskSubmission) *v1alpha1.TaskSubmission {
		w.must(w.client.Create(w.Context(), restoredRecord(w.forget(first))))
		w.must(w.client.Create(w.Context(), manifest(first.Namespace, first.Name, "plain")))
		return w.finished(first.Namespace, first.Name)
	}, effects: 1},
	{name: "restored without status: records, then submissions", walk: func(w *world, first *v1alpha1.TaskSubmission) *v1alpha1.TaskSubmission {
		w.must(w.client.Create(w.Context(), restoredRecord(w.forget(first))))
		w.must(w.client.Create(w.Context(), restored(first)))
		return w.finished(first.Namespace, first.Name)
	}, effects: 1},
	{name: "restored without records, from an idempotent receiver", template: "idempotent", walk: withoutRecords, effects: 1},
	{name: "restored without records, from one that remembers nothing", walk: withoutRecords, effects: 2, other: true},
}

// withoutRecords is a restore into a cluster that has forgotten.
func withoutRecords(w *world, first *v1alpha1.TaskSubmission) *v1alpha1.TaskSubmission {
	w.forget(first)
	w.must(w.client.Create(w.Context(), restored(first)))
	return w.finished(first.Namespace, first.Name)
}

// appliedByGitOps applies an unchanged manifest as another manager does, and looks for drift each time.
func appliedByGitOps(w *world, first *v1alpha1.TaskSubmission) *v1alpha1.TaskSubmission {
	apply := []string{"apply", "--server-side", "--field-manager=argocd-controller", "-f", w.file(manifest(first.Namespace, first.Name, "plain"))}
	w.kubectl(append(apply, "--force-conflicts")...) // it was created by another client
	before := w.finished(first.Namespace, first.Name)
	for range 4 {
		w.kubectl(apply...)
		w.kubectl("diff", "--server-side", "--field-manager=argocd-controller", "-f", apply[4]) // an error: there is drift
	}
	after := w.finished(first.Namespace, first.Name)
	if after.ResourceVersion != before.ResourceVersion {
		w.Errorf("an unchanged manifest changed the object: %s, %s", before.ResourceVersion, after.ResourceVersion)
	}
	for _, entry := range after.ManagedFields {
		if entry.Manager == "manager" && entry.Subresource != "status" {
			w.Errorf("the operator owns more than status: %s", entry.FieldsV1)
		}
	}
	return w.finished(first.Namespace, first.Name)
}

// restored is what a backup tool makes that leaves status out, as Velero does.
func restored(from *v1alpha1.TaskSubmission) *v1alpha1.TaskSubmission {
	return &v1alpha1.TaskSubmission{
		ObjectMeta: metav1.ObjectMeta{Namespace: from.Namespace, Name: from.Name, Labels: map[string]string{"velero.io/restore-name": "r"}, Annotations: from.Annotations},
		Spec:       from.Spec,
	}
}

func restoredRecord(from *v1alpha1.TaskRecord) *v1alpha1.TaskRecord {
	labels := map[string]string{"velero.io/restore-name": "r"}
	for key, value := range from.Labels {
		labels[key] = value
	}
	return &v1alpha1.TaskRecord{ObjectMeta: metav1.ObjectMeta{Namespace: from.Namespace, Name: from.Name, Labels: labels}, Spec: from.Spec}
}

// forget takes a submission and its record away, and returns the record as a backup has it.
func (w *world) forget(submission *v1alpha1.TaskSubmission) *v1alpha1.TaskRecord {
	w.Helper()
	record := &v1alpha1.TaskRecord{}
	w.must(w.client.Get(w.Context(), types.NamespacedName{Namespace: submission.Namespace, Name: submission.Status.RecordName}, record))
	w.must(w.client.Delete(w.Context(), submission.DeepCopy()))
	w.must(w.client.Delete(w.Context(), record.DeepCopy()))
	return record
}

// TestReplay has every route walked, and prints what the receiver counted.
func TestReplay(t *testing.T) {
	w := newWorld(t, harness.Options{CRDs: true})
	w.template(w.namespace, "plain", "plain", "}}")
	w.template(w.namespace, "short", "plain", "}}\n  retention: {submissionTTL: 1s}")
	w.template(w.namespace, "idempotent", "idempotent", ", receiver: {idempotent: true}}}\n  retry: {initialDelay: 100ms}")
	w.operator()
	rows := make([]string, len(routes))
	t.Run("by way of", func(t *testing.T) {
		var mu sync.Mutex
		for i, r := range routes {
			t.Run(words.ReplaceAllString(r.name, "_"), func(t *testing.T) {
				t.Parallel()
				row := r.take(w.in(t), fmt.Sprintf("action-%d", i))
				mu.Lock()
				defer mu.Unlock()
				rows[i] = row
			})
		}
	})
	t.Logf("\n| path | effects | result |\n| --- | --- | --- |\n%s", strings.Join(rows, "\n"))
}

// take walks a route and returns its row of the table.
func (r route) take(w *world, name string) string {
	template := r.template
	if template == "" {
		template = "plain"
	}
	first := w.outcome(manifest(w.namespace, name, template))
	last := r.walk(w, first)
	effects := w.effects(w.namespace, name)
	same := last.Status.ResultDigest == first.Status.ResultDigest && last.Status.ResultDigest != ""
	if effects != r.effects || same == r.other || last.Status.Phase != v1alpha1.PhaseSuccess {
		w.Errorf("%d effects, want %d; the same result: %v, want %v; %s/%s", effects, r.effects, same, !r.other, last.Status.Phase, last.Status.Reason)
	}
	if again := first.UID != last.UID; last.Status.Replayed != (again && !r.other && r.template != "idempotent") {
		w.Errorf("replayed: %v", last.Status.Replayed)
	}
	return fmt.Sprintf("| %s | %d | %s |", r.name, effects, map[bool]string{true: "the first: " + last.Status.ResultDigest[:19] + "…", false: "a new one"}[same])
}
