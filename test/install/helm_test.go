package install_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// variablesForTests are forTests, as in a pod, and valuesForTests as values of the chart.
const (
	variablesForTests = `{"name":"TASKONCE_ALLOW_LOOPBACK_RECEIVERS","value":"true"},{"name":"TASKONCE_SWEEP_INTERVAL","value":"1s"}`
	valuesForTests    = `--set-json 'extraEnv=[` + variablesForTests + `]'`
)

// TestChart installs by chart into a namespace that enforces pod security, has the work done, upgrades with the webhooks down,
// and uninstalls and installs with what was done there.
func TestChart(t *testing.T) {
	w := newWorld(t)
	w.clearsAway()
	w.follow("docs/install.md", "With Helm")
	if _, err := w.try("helm install taskonce dist/chart -n taskonce-system"); err == nil {
		t.Error("it can be installed twice, and two would be there")
	}
	w.sh("helm upgrade taskonce dist/chart -n taskonce-system --wait " + valuesForTests)
	w.sh("helm test taskonce -n taskonce-system")
	namespace := w.mainJob(nil)
	w.sh(certificateIsLost)
	w.underLoad("an upgrade without webhooks", func() {
		w.sh("kubectl delete service taskonce-webhook-service -n taskonce-system")
		w.failsByItself(namespace)
		w.follow("docs/upgrade.md", "With the chart")
		w.sh("helm upgrade taskonce dist/chart -n taskonce-system --reset-then-reuse-values --set log.level=debug --wait")
	})
	w.aStrangerReadsNoMetrics()
	w.rightsAreExact(system, account)
	w.missesARight()
	w.gatewayByChart()

	w.follow("docs/uninstall.md", "Installed with Helm")
	if out := w.sh("kubectl get secrets,leases -o name -n taskonce-system"); strings.Contains(out, "secret/taskonce-webhook-cert") || strings.Contains(out, "lease.") {
		t.Errorf("the operator's own Secret and Lease are left: %s", out)
	}
	if out := w.sh("kubectl get tasksubmissions,taskrecords -n " + namespace); !strings.Contains(out, "pay-1") {
		t.Errorf("what was done is gone: %s", out)
	}
	w.sh("helm install taskonce dist/chart -n taskonce-system --wait " + valuesForTests)
	w.remembers(namespace)
	w.sh("helm uninstall taskonce -n taskonce-system --wait")
	w.follow("docs/uninstall.md", "The CRDs")
	w.sh("kubectl delete namespace taskonce-system --timeout=120s")
	w.nothingIsLeft()
}

// missesARight takes a right away that nothing works without, though every replica would look well, and has that told.
func (w *world) missesARight() {
	w.Helper()
	const binding = "rolebinding taskonce-leader-election-rolebinding -n taskonce-system"
	stored := filepath.Join(w.dir, "binding.yaml")
	w.sh("kubectl get " + binding + " -o yaml >" + stored + "; kubectl delete " + binding)
	if out, err := w.try("helm test taskonce -n taskonce-system"); err == nil {
		w.Errorf("helm test finds nothing wrong: %s", out)
	}
	if said := w.tails(); !strings.Contains(said, "this account lacks rights (create leases in taskonce-system, get leases taskonce.dev in taskonce-system") {
		w.Errorf("nothing says which right is missing: %s", said)
	}
	w.sh("kubectl create -f " + stored)
}

// TestNamespaces installs for one namespace, as somebody who has all rights there and none beyond, and has the work done with
// Roles alone. A second one beside it, for another namespace, has its own work done.
func TestNamespaces(t *testing.T) {
	w := newWorld(t)
	w.clearsAway()
	text := sections(w.read("docs/install.md"))["In some namespaces only"]
	administrator, team, ok := strings.Cut(text, "helm install")
	if !ok {
		t.Fatal("docs/install.md shows no helm install for some namespaces")
	}
	followed["docs/install.md#In some namespaces only"] = true
	w.sh(administrator)
	for _, namespace := range []string{"taskonce-team", "shop"} {
		w.mayBy("team", authorizationv1.SubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Group: "*", Resource: "*", Verb: "*"}})
	}
	install := "helm install" + strings.TrimSpace(team)
	w.sh(install[:len("helm install")] + " --kube-as-user=team " + install[len("helm install"):] + " " + valuesForTests)
	w.mainJobIn("shop", map[string]string{v1alpha1.AnnotationDecidedBy: "somebody"})
	w.failsByItself("shop")
	if out := w.sh("kubectl get clusterrole,clusterrolebinding,mutatingwebhookconfiguration,validatingwebhookconfiguration,validatingadmissionpolicy -o name"); strings.Contains(out, "team-taskonce") {
		t.Errorf("it has installed something for the whole cluster: %s", out)
	}
	if status, _ := w.metrics("taskonce-team", "team", ""); status != http.StatusOK {
		t.Errorf("the metrics ask who reads them: status %d", status)
	}
	w.policiesAlone("shop")
	elsewhere := w.newNamespace()
	w.write(elsewhere)
	w.submit(elsewhere, "pay-1", "pay", "1001")
	w.besides()
	w.rightsAreExact("taskonce-team", "team-taskonce-controller-manager")
	if got := w.effects(elsewhere); len(got) > 0 {
		t.Errorf("it has worked in a namespace that is not its own: %v", got)
	}
	w.sh("helm uninstall team -n taskonce-team --kube-as-user=team --wait")
	w.sh("helm uninstall beside -n taskonce-team --wait; kubectl delete clusterrolebinding beside-reads")
	w.sh("kubectl delete namespace taskonce-team shop monitoring --timeout=120s; kubectl delete -k config/crd --timeout=120s")
	w.nothingIsLeft()
}

// besides installs a second release into the same namespace, for another one, which asks the API server who reads its metrics,
// as an administrator. Each elects a leader of its own.
func (w *world) besides() {
	w.Helper()
	namespace := w.newNamespace()
	w.sh("helm install beside dist/chart -n taskonce-team --set crds.install=false,metrics.authentication=delegated --set 'namespaces={" + namespace + "}' --wait " + valuesForTests)
	w.sh("helm test beside -n taskonce-team")
	w.mainJobIn(namespace, map[string]string{v1alpha1.AnnotationDecidedBy: "somebody"})
	w.failsByItself(namespace)
	w.submit("shop", "pay-2", "pay", "1002")
	w.reaches("shop", "pay-2", v1alpha1.ReasonApplied)
	w.sh("kubectl create namespace monitoring; kubectl create serviceaccount prometheus -n monitoring; kubectl create serviceaccount stranger -n monitoring" +
		"; kubectl create clusterrolebinding beside-reads --clusterrole=beside-taskonce-metrics-reader --serviceaccount=monitoring:prometheus")
	w.mayReadMetrics()
	for name, want := range map[string]int{"prometheus": http.StatusOK, "stranger": http.StatusForbidden} {
		if status, _ := w.metrics("taskonce-team", "beside", name); status != want {
			w.Errorf("the metrics of the second release, for %s: status %d, want %d", name, status, want)
		}
	}
	w.rightsAreExact("taskonce-team", "beside-taskonce-controller-manager")
}

// TestNamespacesAreChanged upgrades a release from the whole cluster to some namespaces and back, with all that needs rights.
// What a binding binds cannot be changed. Nobody runs: it is about what is installed.
func TestNamespacesAreChanged(t *testing.T) {
	w := newWorld(t)
	namespace := w.newNamespace()
	settings := " dist/chart -n taskonce-system --set replicas=0,gateway.replicas=0,webhook.enabled=false,gateway.page.enabled=true," + verifying +
		" --set 'gateway.oidc.namespaces={" + namespace + "},gateway.page.namespaces={" + namespace + "}'"
	some := " --set 'namespaces={" + namespace + "}'"
	bound := func() string {
		return w.sh("set +x; kubectl get rolebindings -n " + namespace + " -o jsonpath='{range .items[*]}{.roleRef.kind} {.roleRef.name} {end}'")
	}
	w.sh("helm install taskonce --create-namespace" + settings)
	w.sh("helm upgrade taskonce" + settings + some)
	if got := bound(); !strings.Contains(got, "Role taskonce-manager-work") || strings.Contains(got, "ClusterRole") {
		t.Errorf("for one namespace it binds %s", got)
	}
	w.sh("helm upgrade taskonce" + settings)
	if got := bound(); !strings.Contains(got, "ClusterRole taskonce-gateway ") || !strings.Contains(got, "ClusterRole taskonce-gateway-page ") || strings.Contains(got, "manager-work") {
		t.Errorf("for the whole cluster it binds, in a namespace, %s", got)
	}
	w.sh("helm uninstall taskonce -n taskonce-system --wait; kubectl delete -k config/crd --timeout=120s; kubectl delete namespace taskonce-system --timeout=120s")
	w.nothingIsLeft()
}

// policiesAlone installs the policies beside an operator that has none, and removes them again.
func (w *world) policiesAlone(namespace string) {
	w.Helper()
	w.follow("docs/install.md", "The policies alone")
	const forged = `
apiVersion: taskonce.dev/v1alpha1
kind: TaskSubmission
metadata: {name: forged, annotations: {taskonce.dev/submitted-by: somebody}}
spec: {templateRef: {name: pay}}
`
	w.await("nobody submits as somebody else", func(context.Context) (bool, error) {
		out, err := w.try("kubectl create --dry-run=server -n " + namespace + " -f - <<'END'" + forged + "END")
		return err != nil && strings.Contains(out, "taskonce.dev/submitted-by names somebody"), nil
	})
	w.sh("kubectl delete -k config/policy-only")
}
