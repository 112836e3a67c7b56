package install_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

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
// Roles alone. A second one, for another namespace, does not see the first one's.
func TestNamespaces(t *testing.T) {
	w := newWorld(t)
	text := sections(w.read("docs/install.md"))["In some namespaces only"]
	administrator, team, ok := strings.Cut(text, "helm install")
	if !ok {
		t.Fatal("docs/install.md shows no helm install for some namespaces")
	}
	followed["docs/install.md#In some namespaces only"] = true
	w.sh(administrator)
	install := "helm install" + strings.TrimSpace(team)
	w.sh(install[:len("helm install")] + " --kube-as-user=team " + install[len("helm install"):] + " " + valuesForTests)
	w.mainJobIn("shop", map[string]string{v1alpha1.AnnotationDecidedBy: "somebody"})
	w.failsByItself("shop")
	if out := w.sh("kubectl get clusterrole,clusterrolebinding,mutatingwebhookconfiguration,validatingwebhookconfiguration,validatingadmissionpolicy -o name"); strings.Contains(out, "team-taskonce") {
		t.Errorf("it has installed something for the whole cluster: %s", out)
	}
	if status, _ := w.metrics("taskonce-team", ""); status != http.StatusOK {
		t.Errorf("the metrics ask who reads them: status %d", status)
	}
	elsewhere := w.newNamespace()
	w.write(elsewhere)
	w.submit(elsewhere, "pay-1", "pay", "1001")
	w.rightsAreExact("taskonce-team", "team-taskonce-controller-manager")
	if got := w.effects(elsewhere); len(got) > 0 {
		t.Errorf("it has worked in a namespace that is not its own: %v", got)
	}
	w.sh("helm uninstall team -n taskonce-team --kube-as-user=team --wait")
	w.sh("kubectl delete namespace taskonce-team shop --timeout=120s; kubectl delete -k config/crd --timeout=120s")
	w.nothingIsLeft()
}
