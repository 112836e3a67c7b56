package install_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// TestUpgradeFromARelease installs what the last release installed, has work done, and upgrades under load: by manifest and
// by chart. What the API server does not let be changed, such as a selector or whom a binding binds, would be refused. The
// program is this one's: that of the release is not kept.
func TestUpgradeFromARelease(t *testing.T) {
	w := newWorld(t)
	w.clearsAway()
	release := w.lastRelease()
	t.Logf("from %s", filepath.Base(release))

	w.sh("kubectl apply --server-side -f " + release + "/install.yaml")
	w.sh("kubectl set env deployment/taskonce-controller-manager -n taskonce-system " + forTests +
		"; kubectl rollout status deployment/taskonce-controller-manager -n taskonce-system --timeout=120s")
	// Something of the release that this one no longer has, and something that is not ours.
	w.sh("kubectl create clusterrole taskonce-former --verb=get --resource=pods; kubectl label clusterrole taskonce-former " + ofTheManifest)
	w.sh("kubectl create configmap former -n taskonce-system; kubectl label configmap former -n taskonce-system " + ofTheManifest)
	w.sh("kubectl create clusterrole somebody-elses --verb=get --resource=pods; kubectl label clusterrole somebody-elses app.kubernetes.io/name=taskonce app.kubernetes.io/managed-by=Helm")
	w.upgrade("the manifest", "With the manifest")
	w.follow("docs/upgrade.md", "Objects that a release no longer has")
	if out := w.sh("kubectl get clusterroles,configmaps -o name -n taskonce-system"); strings.Contains(out, "former") || !strings.Contains(out, "somebody-elses") {
		t.Errorf("removed too little, or too much: %s", out)
	}
	w.sh("kubectl get -f dist/install.yaml") // all of it is there
	w.sh("kubectl delete clusterrole somebody-elses; kubectl delete -f dist/install.yaml --timeout=120s")

	w.sh("helm install taskonce " + release + "/chart.tgz --namespace taskonce-system --create-namespace --wait " + valuesForTests)
	w.upgrade("the chart", "With the chart")
	w.sh("helm uninstall taskonce -n taskonce-system --wait; kubectl delete -k config/crd --timeout=120s; kubectl delete namespace taskonce-system --timeout=120s")
	w.nothingIsLeft()
}

// ofTheManifest are the labels of what the manifest has installed.
const ofTheManifest = "app.kubernetes.io/name=taskonce app.kubernetes.io/managed-by=kustomize"

// upgrade follows the page under load. What was done before is remembered after it.
func (w *world) upgrade(what, heading string) {
	w.Helper()
	w.nobodyIsLedToTheLast() // which does not serve any more
	namespace := w.newNamespace()
	w.install(namespace)
	w.submit(namespace, "pay-1", "pay", "1001")
	w.reaches(namespace, "pay-1", v1alpha1.ReasonApplied)
	w.underLoad("an upgrade of "+what, func() { w.follow("docs/upgrade.md", heading) })
	w.sh("kubectl delete tasksubmission pay-1 -n " + namespace)
	w.submit(namespace, "pay-1", "pay", "1001")
	if !w.reaches(namespace, "pay-1", v1alpha1.ReasonApplied).Status.Replayed {
		w.Error("the first result was not replayed")
	}
	w.once(namespace, "pay-1")
}

// lastRelease is the folder of the last release that a chart was kept of.
func (w *world) lastRelease() string {
	w.Helper()
	charts, err := filepath.Glob(filepath.Join(w.root, "test", "upgrade", "testdata", "*", "chart.tgz"))
	w.must(err)
	if len(charts) == 0 {
		w.Fatal("there is no release with a chart to upgrade from")
	}
	return filepath.Dir(charts[len(charts)-1])
}
