package install_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// booking takes its time, and can be asked about.
const booking = `
kubectl apply --namespace=NAMESPACE -f - <<'END'
apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: book}
spec:
  effect: {http: {url: "http://RECEIVER/slow/book", timeout: 5s}}
  verification:
    http: {method: GET, url: "http://RECEIVER/effects/${submission.downstreamKey}"}
    classify: [{when: "${response.status == 200}", outcome: Applied}, {when: "${response.status == 404}", outcome: NotApplied}]
    settleAfter: 30s # a machine that is busy books later than the 5s above
END
`

// TestThrottledForAMinute has the API server refuse whatever the operator asks, for a minute, with effects under way and
// clients that go on submitting. The leader cannot renew its lease, ends, and is started again; the other one stays as it was.
func TestThrottledForAMinute(t *testing.T) {
	t.Parallel() // with what needs no cluster, since a minute is long
	w := newWorld(t)
	w.sh("helm install taskonce dist/chart --namespace taskonce-system --create-namespace --wait " + valuesForTests)
	namespace := w.newNamespace()
	w.sh(strings.NewReplacer("NAMESPACE", namespace, "RECEIVER", w.receiver).Replace(booking))
	w.sh("kubectl wait tasktemplates --all --for=condition=Ready --timeout=60s -n " + namespace)
	w.allAreWarm()
	pod, leader := w.leader()
	standby := w.other(pod)
	stood := standby.runs()

	var names []string
	for i := range 10 {
		names = append(names, fmt.Sprintf("under-way-%d", i))
		w.book(namespace, names[i])
	}
	w.await("the receiver works on each", func(context.Context) (bool, error) {
		entries, err := ledger.Read(w.ledger)
		begun := 0
		for _, entry := range entries {
			if entry.Kind == ledger.Call && strings.HasPrefix(entry.Key, namespace+"/") {
				begun++
			}
		}
		return begun >= len(names), err
	})
	started := w.starts(pod) // more than once, where the kinds came after it
	over := w.node.front.throttle(time.Minute)
	pace := time.NewTicker(time.Second) // the clients'
	defer pace.Stop()
	for ; time.Now().Before(over); <-pace.C {
		names = append(names, fmt.Sprintf("meanwhile-%d", len(names)))
		w.book(namespace, names[len(names)-1])
	}
	if standby.runs() != stood || standby.lapsed() > 0 {
		t.Errorf("the replica that did not lead was not alive and ready all the time: ready no more %d times\n%s", standby.lapsed(), stood.logTail())
	}
	<-leader.done
	if again := w.starts(pod) - started; again > 1 {
		t.Errorf("the leader was started again %d times in that minute: it is to wait for the API server", again)
	}
	for _, name := range names {
		w.succeeds(namespace, name)
	}
	w.once(namespace, names...)

	if !strings.Contains(leader.logTail(), "leader election lost") {
		t.Errorf("the leader does not say why it ended:\n%s", leader.logTail())
	}
	w.sh("kubectl rollout status deployment/taskonce-controller-manager -n taskonce-system --timeout=120s")
	t.Logf("throttled for a minute: %d requests were refused with 429, %d submissions meanwhile, each applied once", w.node.front.refused.Load(), len(names))
	w.sh("helm uninstall taskonce -n taskonce-system --wait; kubectl delete -k config/crd --timeout=120s; kubectl delete namespace taskonce-system --timeout=120s")
}

// starts is how often the pod's container was started.
func (w *world) starts(pod *sandbox) int {
	w.Helper()
	logs, err := filepath.Glob(filepath.Join(w.node.dir, pod.pod.Name+"-*.log"))
	w.must(err)
	return len(logs)
}

func (w *world) book(namespace, name string) {
	w.Helper()
	submission := plain(namespace, name)
	submission.Spec.TemplateRef.Name = "book"
	w.must(w.client.Create(w.Context(), submission))
}

// succeeds waits until a submission is a success, however that was found out.
func (w *world) succeeds(namespace, name string) {
	w.Helper()
	found := &v1alpha1.TaskSubmission{}
	w.await(namespace+"/"+name+" has finished", func(ctx context.Context) (bool, error) {
		err := w.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)
		return found.Status.Phase.Terminal(), err
	})
	if found.Status.Phase != v1alpha1.PhaseSuccess {
		w.Errorf("%s: %s: %s", name, found.Status.Reason, found.Status.Message)
	}
}

// other is the pod of the same namespace that is not this one.
func (w *world) other(pod *sandbox) *sandbox {
	w.Helper()
	for _, s := range w.node.named(pod.pod.Namespace) {
		if s != pod {
			return s
		}
	}
	w.Fatal("there is one replica only")
	return nil
}

// lapsed is how often the pod was ready no more although its process ran.
func (s *sandbox) lapsed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lapses
}
