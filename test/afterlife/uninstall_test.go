package afterlife_test

import (
	"context"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

// removal takes one thing away, or has it begin to go.
type removal func(w *world, namespace string, operator *harness.Process)

func removeOperator(_ *world, _ string, operator *harness.Process) { operator.Kill() }

func removeNamespace(w *world, namespace string, _ *harness.Process) {
	w.must(w.client.Delete(w.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	w.gone(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
}

func removeKinds(w *world, _ string, _ *harness.Process) {
	w.kubectl("delete", "-k", "config/crd", "--timeout=5m")
	left := &apiextensionsv1.CustomResourceDefinitionList{}
	w.must(w.client.List(w.Context(), left))
	for i := range left.Items {
		if left.Items[i].Spec.Group == v1alpha1.GroupVersion.Group {
			w.Errorf("%s is left", left.Items[i].Name)
		}
	}
}

// TestInstallation upgrades from each earlier release, and then removes everything, in one cluster with the real namespace
// controller.
func TestInstallation(t *testing.T) {
	w := newWorld(t, harness.Options{Controllers: []string{"namespace-controller"}})
	for _, release := range releases(t) {
		t.Run("upgrade from "+filepath.Base(release), func(t *testing.T) { w.in(t).upgrade(release) })
	}
	for _, order := range orders {
		t.Run("uninstall "+words.ReplaceAllString(order.name, "_"), func(t *testing.T) { w.in(t).uninstall(order.steps) })
	}
}

var orders = []struct {
	name  string
	steps []removal
}{
	{"operator, namespace, kinds", []removal{removeOperator, removeNamespace, removeKinds}},
	{"namespace, operator, kinds", []removal{removeNamespace, removeOperator, removeKinds}},
	{"kinds, operator, namespace", []removal{removeKinds, removeOperator, removeNamespace}},
}

// uninstall removes operator, namespace and kinds in an order, with submissions that are waiting, in flight, unknown and
// finished. Nobody removes a finalizer.
func (w *world) uninstall(steps []removal) {
	w.Helper()
	w.install("-k", "config/crd")
	operator := w.operator()
	namespace := w.newNamespace()
	w.busy(namespace)
	for _, step := range steps {
		step(w, namespace, operator)
	}
}

// busy makes submissions of every kind in a namespace, and returns when each stands where it should.
func (w *world) busy(namespace string) {
	w.Helper()
	w.template(namespace, "plain", "plain", "}}")
	w.template(namespace, "stopped", "plain", "}}\n  suspend: true")
	w.template(namespace, "held", "hold", ", timeout: 60s}}")
	w.template(namespace, "unknown", "drop", "}}")
	w.template(namespace, "keyed", "plain", "}}\n  businessKey: \"${string(params.amount)}\"")
	for name, reason := range map[string]v1alpha1.Reason{
		"stopped": v1alpha1.ReasonTemplateSuspended, "held": v1alpha1.ReasonExecuting, "unknown": v1alpha1.ReasonOutcomeUnknown,
		"plain": v1alpha1.ReasonApplied, "keyed": v1alpha1.ReasonApplied,
	} {
		w.must(w.client.Create(w.Context(), manifest(namespace, name, name)))
		found := &v1alpha1.TaskSubmission{}
		w.await(name+" is "+string(reason), func(ctx context.Context) (bool, error) {
			err := w.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)
			return found.Status.Reason == reason, err
		})
		if len(found.Finalizers) > 0 || len(found.OwnerReferences) > 0 {
			w.Errorf("%s has finalizers or owners: %v %v", name, found.Finalizers, found.OwnerReferences)
		}
	}
}
