package tracing_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/pkg/submit"
	"github.com/taskonce/taskonce/test/collector"
	"github.com/taskonce/taskonce/test/harness"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// patience is how long anything is waited for.
const patience = 2 * time.Minute

// What no span may hold.
const (
	secretParameter = "parameter-that-nobody-else-may-see"
	secretHeader    = "header-that-nobody-else-may-see"
)

// world is a namespace with templates, and what was traced in it.
type world struct {
	*testing.T
	namespace string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	namespace, err := installation.plane.Namespace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, namespace: namespace}
	w.must(installation.api.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "login"}, StringData: map[string]string{"token": secretHeader},
	}))
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// asked is a template whose calls behave as the path says, and whose receiver can be asked. Who takes over an attempt waits
// for the end of its time-out.
func (w *world) asked(name, path, timeout string) {
	w.Helper()
	w.template(name, fmt.Sprintf(`
effect:
  http:
    url: http://%[1]s%[2]s
    timeout: %[3]s
    body: "${params}"
    headers: [{name: X-Token, valueFrom: {secretKeyRef: {name: login, key: token}}}]
verification:
  http: {method: GET, url: "http://%[1]s/effects/${submission.downstreamKey}", timeout: 30s}
  classify: [{when: "${response.status == 200}", outcome: Applied}, {when: "${response.status == 404}", outcome: NotApplied}]
  settleAfter: 0s`, installation.receiver, path, timeout))
}

func (w *world) template(name, spec string) {
	w.Helper()
	template := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "taskonce.dev/v1alpha1", "kind": "TaskTemplate"}}
	template.SetNamespace(w.namespace)
	template.SetName(name)
	var fields map[string]any
	w.must(yaml.UnmarshalStrict([]byte(spec), &fields))
	template.Object["spec"] = fields
	w.must(installation.api.Create(w.Context(), template))
}

// submit submits with the client, in the context of a span or of none.
func (w *world) submit(ctx context.Context, key, template string) {
	w.Helper()
	prepared, err := (&submit.Client{API: installation.api}).Prepare(submit.Action{
		Namespace: w.namespace, Key: key, Template: template, Parameters: map[string]string{"secret": secretParameter},
	})
	w.must(err)
	_, err = prepared.Submit(ctx)
	w.must(err)
}

// inSpan returns the context of a client's span that is sampled, and the span.
func (w *world) inSpan(last byte) (context.Context, trace.SpanContext) {
	span := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{0xc1, 15: last}, SpanID: trace.SpanID{0xc2, 7: last}, TraceFlags: trace.FlagsSampled,
	})
	return trace.ContextWithSpanContext(w.Context(), span), span
}

func (w *world) get(key string) *v1alpha1.TaskSubmission {
	w.Helper()
	found := &v1alpha1.TaskSubmission{}
	w.must(installation.api.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: key}, found))
	return found
}

func (w *world) eventually(what string, holds func() bool) {
	w.Helper()
	err := wait.PollUntilContextTimeout(w.Context(), 20*time.Millisecond, patience, true, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		w.Fatalf("waiting for %s: %v\n%s", what, err, installation.manager.LogTail())
	}
}

// stands waits until an action is done for a reason. Then its effect has happened once.
func (w *world) stands(key string, reason v1alpha1.Reason) {
	w.Helper()
	w.eventually(key+" to be "+string(reason), func() bool { return w.get(key).Status.Reason == reason })
	if n := len(w.logged(ledger.Effect, key)); n != 1 {
		w.Errorf("%s: %d effects", key, n)
	}
}

// atLeast are the spans of which there are more when the machine is slow: what is awaited is said, and looked at, meanwhile.
var atLeast = []string{"write status", "poll effect"}

// spans returns the spans of an action once there are as many as expected of each name; more, or other names, are not
// expected.
func (w *world) spans(key string, expected map[string]int) map[string][]collector.Span {
	w.Helper()
	found := map[string][]collector.Span{}
	w.eventually(fmt.Sprintf("the spans %v of %s", expected, key), func() bool {
		clear(found)
		for _, span := range w.traced(key) {
			found[span.Name] = append(found[span.Name], span)
		}
		for name, count := range expected {
			if len(found[name]) < count {
				return false
			}
		}
		return true
	})
	for name, all := range found {
		if count, may := expected[name]; !may || len(all) > count && !slices.Contains(atLeast, name) {
			w.Errorf("%s has %d spans %q, of which %d are expected: %+v", key, len(all), name, count, all)
		}
	}
	return found
}

// traced returns the spans of an action that have arrived.
func (w *world) traced(key string) []collector.Span {
	return installation.collector.Spans(func(s collector.Span) bool {
		return s.Attributes["taskonce.namespace"] == w.namespace && s.Attributes["taskonce.name"] == key
	})
}

// logged returns what the receiver's log says of a key.
func (w *world) logged(kind ledger.Kind, key string) []ledger.Entry {
	w.Helper()
	entries, err := ledger.Read(installation.ledger)
	w.must(err)
	return ledger.Select(entries, kind, w.namespace+"/"+key)
}

func (w *world) release() {
	w.Helper()
	request, err := http.NewRequestWithContext(w.Context(), http.MethodPost, "http://"+installation.receiver+"/admin/release", http.NoBody)
	w.must(err)
	answer, err := http.DefaultClient.Do(request)
	w.must(err)
	w.must(answer.Body.Close())
}

// carried is the traceparent that names a span.
func carried(span collector.Span) string { return "00-" + span.Trace + "-" + span.ID + "-01" }

// plugin runs the kubectl plugin with more in its environment.
func (w *world) plugin(environment []string, args ...string) {
	w.Helper()
	log := w.TempDir() + "/plugin.log"
	process, err := harness.Launch("plugin", log, append(installation.plane.Environ(), environment...),
		installation.dir+"/kubectl-taskonce", append(args, "--namespace="+w.namespace)...)
	w.must(err)
	if <-process.Done; process.Err != nil {
		w.Fatalf("kubectl taskonce %s: %v\n%s", strings.Join(args, " "), process.Err, process.LogTail())
	}
}
