package install_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// underLoad submits all the time while something is done, and looks whether each submission had its effect, once.
func (w *world) underLoad(what string, do func()) {
	w.Helper()
	namespace := w.newNamespace()
	w.install(namespace)
	ctx, stop := context.WithCancel(w.Context())
	var names []string
	var submitting sync.WaitGroup
	submitting.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			name := fmt.Sprintf("load-%d", i)
			if err := w.client.Create(w.Context(), plain(namespace, name)); err != nil {
				w.Errorf("%s: %s was refused: %v", what, name, err)
				return
			}
			names = append(names, name)
			time.Sleep(20 * time.Millisecond) // the clients' pace
		}
	})
	do()
	stop()
	submitting.Wait()
	for _, name := range names {
		w.reaches(namespace, name, v1alpha1.ReasonApplied)
	}
	w.once(namespace, names...)
	w.Logf("%s: %d submissions meanwhile, each applied once", what, len(names))
}

// plain is a submission whose effect is one call.
func plain(namespace, name string) *v1alpha1.TaskSubmission {
	submission := &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	submission.Spec.TemplateRef.Name = "pay"
	submission.Spec.Parameters = apiextensionsv1.JSON{Raw: []byte(`{"order":"` + name + `"}`)}
	return submission
}

// handsOver takes the leader away, by a signal and by a crash, and measures how long nothing was done. The first is bounded by
// what a pod is given to end, the second by the lease, and both by the patience of every wait.
func (w *world) handsOver() {
	w.Helper()
	namespace := w.newNamespace()
	w.install(namespace)
	for i, way := range []struct {
		name string
		take func(*sandbox, *process)
	}{
		{"voluntary hand-over", func(s *sandbox, _ *process) { w.must(w.client.Delete(w.Context(), s.pod.DeepCopy())) }},
		{"take-over after a crash", func(_ *sandbox, p *process) { p.kill() }},
	} {
		w.sh("kubectl rollout status deployment/taskonce-controller-manager -n taskonce-system --timeout=120s")
		w.allAreWarm()
		pod, leader := w.leader()
		begin := time.Now()
		way.take(pod, leader)
		name := fmt.Sprintf("taken-over-%d", i)
		w.must(w.client.Create(w.Context(), plain(namespace, name)))
		w.reaches(namespace, name, v1alpha1.ReasonApplied)
		w.Logf("%s: %s until the next effect", way.name, time.Since(begin).Round(10*time.Millisecond))
		if got := w.effects(namespace)[name]; got != 1 {
			w.Errorf("%s: %d effects of %s", way.name, got, name)
		}
	}
}

// allAreWarm waits until each replica, whether it leads or not, watches what it would work on.
func (w *world) allAreWarm() {
	w.Helper()
	w.await("every replica is warm", func(context.Context) (bool, error) {
		watched := map[string]bool{}
		for _, e := range w.requests(system, account) {
			if e.Verb == "watch" {
				for _, pod := range e.User.Extra["authentication.kubernetes.io/pod-name"] {
					watched[pod+" "+e.ObjectRef.Resource] = true
				}
			}
		}
		for _, s := range w.node.named(system) {
			for _, kind := range []string{"tasksubmissions", "tasktemplates", "taskdecisions", "jobs"} {
				if !watched[s.pod.Name+" "+kind] {
					return false, nil
				}
			}
		}
		return true, nil
	})
}

// leader waits for a process that leads, and returns it with its pod.
func (w *world) leader() (pod *sandbox, leads *process) {
	w.Helper()
	w.await("somebody leads", func(context.Context) (bool, error) {
		for _, pod = range w.node.named(system) {
			if leads = pod.runs(); leads != nil && leads.leads() {
				return true, nil
			}
		}
		return false, nil
	})
	return pod, leads
}
