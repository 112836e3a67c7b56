package install_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

const (
	system  = "taskonce-system"
	account = "taskonce-controller-manager"
	// forTests lets the operator call the tests' receiver, and sweep each second. It is set as the page says.
	forTests = "TASKONCE_ALLOW_LOOPBACK_RECEIVERS=true TASKONCE_SWEEP_INTERVAL=1s"
	// certificateIsLost has the operator make the webhooks' certificate anew.
	certificateIsLost = `kubectl patch secret taskonce-webhook-cert -n taskonce-system --type=merge -p '{"data":{"tls.crt":""}}'`
)

// TestManifest installs by manifest, twice, has the work done, upgrades under load, and uninstalls: with what was done kept,
// then with everything gone.
func TestManifest(t *testing.T) {
	w := newWorld(t)
	w.clearsAway()
	w.follow("docs/install.md", "With one manifest")
	w.sh("kubectl set env deployment/taskonce-controller-manager -n taskonce-system " + forTests)
	w.follow("docs/install.md", "With one manifest")
	w.await("somebody leads, as the page looks for it", func(context.Context) (bool, error) {
		holder := lastLine(w.follow("docs/install.md", "Check the installation"))
		return strings.Contains(holder, "_"), nil // as in host_uuid, and in no name of a pod
	})
	namespace := w.mainJob(nil)
	w.rootsAreReadOnly(system)
	w.follow("docs/install.md", "Metrics")
	w.metricsNeedARight()
	w.proxied(w.newNamespace())
	w.mayWhatThePageSays()
	w.upgradesWithoutWebhooks(namespace)
	w.sh(certificateIsLost)
	w.underLoadWithWebhooks("a rolling upgrade", func() {
		w.follow("docs/install.md", "Settings")
		w.follow("docs/upgrade.md", "With the manifest")
	})
	w.handsOver()
	w.rightsAreExact(system, account)
	w.gatewayByManifest()

	w.follow("docs/uninstall.md", "Before you do")
	w.sh("! kubectl get tasktemplates -A -o custom-columns=SUSPENDED:.spec.suspend --no-headers | grep -v true") // wherever it is
	w.sh("kubectl create clusterrole another-releases --verb=get --resource=pods; kubectl label clusterrole another-releases app.kubernetes.io/name=taskonce app.kubernetes.io/managed-by=Helm")
	w.follow("docs/uninstall.md", "Installed with the manifest")
	w.sh("kubectl delete clusterrole another-releases") // it is there still
	if out := w.sh("kubectl get tasksubmissions,taskrecords -n " + namespace); !strings.Contains(out, "pay-1") {
		t.Errorf("what was done is gone: %s", out)
	}
	w.goesOnWithTheChart(namespace)
	w.follow("docs/install.md", "With one manifest")
	w.sh("kubectl set env deployment/taskonce-controller-manager -n taskonce-system " + forTests + "; kubectl rollout status deployment/taskonce-controller-manager -n taskonce-system --timeout=120s")
	w.remembers(namespace)
	w.follow("docs/uninstall.md", "With everything that was done")
	w.nothingIsLeft()
}

// goesOnWithTheChart installs the chart over the kinds that the manifest has left, and uninstalls it again.
func (w *world) goesOnWithTheChart(namespace string) {
	w.Helper()
	if out, err := w.try("helm install taskonce dist/chart -n taskonce-system --create-namespace"); err == nil || !strings.Contains(out, "invalid ownership metadata") {
		w.Errorf("Helm takes over what is not its own, unasked: %s", out)
	}
	w.follow("docs/upgrade.md", "From the manifest to the chart, or to another release", "--wait", "--wait "+valuesForTests)
	w.remembers(namespace)
	w.sh("helm uninstall taskonce -n taskonce-system --wait")
}

// upgradesWithoutWebhooks upgrades while the webhooks are not reached. What they would have refused is let in, and fails.
func (w *world) upgradesWithoutWebhooks(namespace string) {
	w.Helper()
	w.sh("kubectl delete service taskonce-webhook-service -n taskonce-system")
	w.failsByItself(namespace)
	w.follow("docs/upgrade.md", "With the manifest")
	out, err := w.try(strings.NewReplacer("NAMESPACE", namespace, "NAME", "wrong-2", "TEMPLATE", "pay", "ORDER", strings.Repeat("9", 50)).Replace(submission))
	if err == nil || !strings.Contains(out, "maxLength") && !strings.Contains(out, "40") {
		w.Errorf("with the webhooks there again it was not refused: %s", out)
	}
}

// failsByItself submits what a webhook would have refused, and waits until it has failed and a sweep has met it.
func (w *world) failsByItself(namespace string) {
	w.Helper()
	w.nobodyChecks(namespace)
	w.submit(namespace, "wrong-1", "pay", strings.Repeat("9", 50))
	w.reaches(namespace, "wrong-1", v1alpha1.ReasonInvalidParameters)
	w.await("the sweep has met what failed", func(ctx context.Context) (bool, error) {
		wrong := &v1alpha1.TaskSubmission{}
		err := w.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "wrong-1"}, wrong)
		return wrong.Labels[v1alpha1.LabelDue] != "", err
	})
}

// nobodyChecks waits until what a webhook would refuse is let in. API servers before 1.37 keep the connections that they have to
// a webhook whose Service is gone.
func (w *world) nobodyChecks(namespace string) {
	w.Helper()
	w.await("the webhooks are not reached", func(ctx context.Context) (bool, error) {
		w.routes.cut()
		return w.client.Create(ctx, plain(namespace, strings.Repeat("9", 50)), client.DryRunAll) == nil, nil
	})
}

// remembers has an action come back that was done before, and looks whether it is done again.
func (w *world) remembers(namespace string) {
	w.Helper()
	w.sh("kubectl delete tasksubmission pay-1 -n " + namespace)
	w.submit(namespace, "pay-1", "pay", "1001")
	if !w.reaches(namespace, "pay-1", v1alpha1.ReasonApplied).Status.Replayed {
		w.Error("the first result was not replayed")
	}
	w.once(namespace, "pay-1", "approve-1", "lost-1", "fleeting-1")
}

// nothingIsLeft looks for anything of ours in the cluster.
func (w *world) nothingIsLeft() {
	w.Helper()
	for _, kinds := range []string{
		"customresourcedefinitions,clusterroles,clusterrolebindings,namespaces",
		"mutatingwebhookconfigurations,validatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings",
		"deployments,services,roles,rolebindings,pods,secrets,serviceaccounts,poddisruptionbudgets --all-namespaces",
	} {
		out := w.sh("kubectl get -o name " + kinds + " 2>/dev/null")
		for line := range strings.SplitSeq(out, "\n") {
			if strings.Contains(line, "taskonce") && !strings.Contains(line, "prometheus-reads-taskonce") && !strings.HasPrefix(line, "+") {
				w.Errorf("%s is left", line)
			}
		}
	}
}

// metricsNeedARight reads the metrics as somebody who may, and as somebody who may not.
func (w *world) metricsNeedARight() {
	w.Helper()
	w.sh("kubectl create namespace monitoring; kubectl create serviceaccount prometheus -n monitoring; kubectl create serviceaccount stranger -n monitoring")
	w.mayReadMetrics()
	for name, want := range map[string]int{"prometheus": http.StatusOK, "stranger": http.StatusForbidden, "": http.StatusUnauthorized} {
		status, body := w.metrics(system, "", name)
		if status != want || status == http.StatusOK && !strings.Contains(body, "taskonce_") {
			w.Errorf("metrics for %q: status %d, want %d", name, status, want)
		}
	}
}

// aStrangerReadsNoMetrics has the operator ask who is reading them, and whether they may.
func (w *world) aStrangerReadsNoMetrics() {
	w.Helper()
	w.sh("kubectl create namespace monitoring; kubectl create serviceaccount stranger -n monitoring")
	if status, _ := w.metrics(system, "", "stranger"); status != http.StatusForbidden {
		w.Errorf("metrics for a stranger: status %d", status)
	}
	w.sh("kubectl delete namespace monitoring --timeout=120s")
}

// metrics reads them by their Service, of a release where one is named, with the token of an account of the namespace monitoring
// where one is named.
func (w *world) metrics(namespace, release, name string) (status int, body string) {
	w.Helper()
	service := &corev1.ServiceList{}
	of := client.MatchingLabels{"control-plane": "controller-manager"}
	if release != "" {
		of["app.kubernetes.io/instance"] = release
	}
	w.must(w.client.List(w.Context(), service, client.InNamespace(namespace), of))
	transport := w.transport(&tls.Config{InsecureSkipVerify: true}) //nolint:gosec // it signs itself
	request, err := http.NewRequestWithContext(w.Context(), http.MethodGet, fmt.Sprintf("https://%s:8443/metrics", service.Items[0].Spec.ClusterIP), http.NoBody)
	w.must(err)
	if name != "" {
		request.Header.Set("Authorization", "Bearer "+w.token("monitoring", name))
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	w.must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	w.must(err)
	return response.StatusCode, string(text)
}

// transport reaches Services, as a pod does.
func (w *world) transport(config *tls.Config) *http.Transport {
	routes := &routes{node: w.node}
	transport := &http.Transport{
		TLSClientConfig: config, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return routes.dial(ctx, address) },
	}
	w.Cleanup(transport.CloseIdleConnections)
	return transport
}

// token is one of a service account.
func (w *world) token(namespace, name string) string {
	w.Helper()
	answer, err := w.node.clients.CoreV1().ServiceAccounts(namespace).CreateToken(w.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	w.must(err)
	return answer.Status.Token
}
