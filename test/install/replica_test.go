package install_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// plain is a submission whose effect is one call.
func plain(namespace, name string) *v1alpha1.TaskSubmission {
	submission := &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	submission.Spec.TemplateRef.Name = "pay"
	submission.Spec.Parameters = apiextensionsv1.JSON{Raw: []byte(`{"order":"` + name + `"}`)}
	return submission
}

// handsOver takes the leader away, by a signal and by a crash, and measures how long nothing was done. The first gives the lease
// back, so that whoever tries next has it, and after the second it must run out.
func (w *world) handsOver() {
	w.Helper()
	namespace := w.newNamespace()
	w.install(namespace)
	for i, way := range []struct {
		name     string
		take     func(*sandbox, *process)
		releases bool
	}{
		{"voluntary hand-over", func(s *sandbox, _ *process) { w.must(w.client.Delete(w.Context(), s.pod.DeepCopy())) }, true},
		{"take-over after a crash", func(_ *sandbox, p *process) { p.kill() }, false},
	} {
		w.sh("kubectl rollout status deployment/taskonce-controller-manager -n taskonce-system --timeout=120s")
		w.allAreWarm()
		pod, leader := w.leader()
		passes := w.watchLease(system, "taskonce.dev")
		way.take(pod, leader)
		<-leader.done
		begin := time.Now()
		name := fmt.Sprintf("taken-over-%d", i)
		w.must(w.client.Create(w.Context(), plain(namespace, name)))
		w.reaches(namespace, name, v1alpha1.ReasonApplied)
		w.Logf("%s: %s until the next effect", way.name, time.Since(begin).Round(10*time.Millisecond))
		if got := w.effects(namespace)[name]; got != 1 {
			w.Errorf("%s: %d effects of %s", way.name, got, name)
		}
		if holders := passes(); slices.Contains(holders, "") != way.releases {
			w.Errorf("%s: the lease went through the hands of %q, where nobody is who released it", way.name, holders)
		}
	}
}

// watchLease returns a function that waits until a lease has passed from whoever holds it now to somebody else, and says who
// held it, one after the other: nobody, where it was released.
func (w *world) watchLease(namespace, name string) (passes func() []string) {
	w.Helper()
	leases := w.node.clients.CoordinationV1().Leases(namespace)
	now, err := leases.Get(w.Context(), name, metav1.GetOptions{})
	w.must(err)
	watched, err := leases.Watch(w.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: now.ResourceVersion})
	w.must(err)
	w.Cleanup(watched.Stop)
	return func() []string {
		holders, late := []string{ptr.Deref(now.Spec.HolderIdentity, "")}, time.After(patience)
		for {
			select {
			case event := <-watched.ResultChan():
				lease, ok := event.Object.(*coordinationv1.Lease)
				if !ok {
					w.Fatalf("watching the lease: %v", event)
				}
				holder := ptr.Deref(lease.Spec.HolderIdentity, "")
				if holder != holders[len(holders)-1] {
					holders = append(holders, holder)
				}
				if holder != "" && holder != holders[0] {
					return holders
				}
			case <-late:
				w.Fatalf("the lease has not passed to somebody else: %q", holders)
			}
		}
	}
}

// nobodyIsLedToTheLast waits until everybody has heard which pods were deleted, the node too.
func (w *world) nobodyIsLedToTheLast() {
	w.Helper()
	w.await("nobody is led to pods that leave", func(ctx context.Context) (bool, error) {
		leaving, err := w.leaving(ctx)
		return !slices.ContainsFunc(w.node.named(system), func(s *sandbox) bool { return leaving[s.pod.UID] && s.isLedTo() }), err
	})
}

// theLastHaveEnded waits until no pod is left that was deleted, nor its process.
func (w *world) theLastHaveEnded() {
	w.Helper()
	w.await("the pods that leave are gone", func(ctx context.Context) (bool, error) {
		leaving, err := w.leaving(ctx)
		return len(leaving) == 0, err
	})
}

// leaving are the operator's and the gateway's pods that were deleted and are still there.
func (w *world) leaving(ctx context.Context) (map[types.UID]bool, error) {
	pods := &corev1.PodList{}
	err := w.client.List(ctx, pods, client.InNamespace(system))
	leaving := map[types.UID]bool{}
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp != nil {
			leaving[pods.Items[i].UID] = true
		}
	}
	return leaving, err
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
			if leads = pod.runs(); leads != nil && leads.leads() && !pod.isLeaving() {
				return true, nil
			}
		}
		return false, nil
	})
	return pod, leads
}
