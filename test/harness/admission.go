package harness

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
)

// webhookService is the Service of config/webhook.
const webhookService = "taskonce-webhook-service"

// InstallAdmission applies the policies and the webhooks of config/default. The API server calls the webhooks by the
// Service that they name, which leads to an address of this machine: so certificates have to be valid for the Service.
// ManagerKubeconfig must have been called: it makes the namespace.
func (c *ControlPlane) InstallAdmission(ctx context.Context, address string) error {
	host, port, err := splitAddress(address)
	if err != nil {
		return err
	}
	if err := c.playService(ctx, host); err != nil {
		return err
	}
	edit := func(object *unstructured.Unstructured) error { return callAt(object, port) }
	return c.applyKinds(ctx, "config/default", edit,
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
}

// probe is an object that tells by what becomes of it that something of admission is at work. Nothing that is merely
// let in tells that.
type probe struct {
	manifest, shows string
	// says is a part of what is printed: of what was created, its annotations; or why it was refused.
	says string
}

// probes are one for each configuration of webhooks, and one for the policies.
var probes = []probe{
	{
		`{"apiVersion": "taskonce.dev/v1alpha1", "kind": "TaskTemplate", "metadata": {"name": "probe"}, "spec": {"effect": {"http": {"url": "https://probe.example/${nothing}"}}}}`,
		"a template is judged", "spec.effect.http.url",
	},
	{
		`{"apiVersion": "taskonce.dev/v1alpha1", "kind": "TaskDecision", "metadata": {"name": "probe"}, "spec": {"submission": "probe", "uid": "probe", "attempt": 0, "action": "Cancel", "reason": "probe"}}`,
		"who decides is written down", "taskonce.dev/decided-by",
	},
	{
		`{"apiVersion": "taskonce.dev/v1alpha1", "kind": "TaskSubmission", "metadata": {"name": "probe", "annotations": {"taskonce.dev/submitted-by": "somebody-else"}}, "spec": {"templateRef": {"name": "probe"}}}`,
		"nobody submits as somebody else", "names somebody-else",
	},
}

// AwaitWebhooks returns when webhooks and policies are at work, which they are a moment after they are installed and the
// operator is ready.
func (c *ControlPlane) AwaitWebhooks(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for _, p := range probes {
		if err := c.await(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (c *ControlPlane) await(ctx context.Context, p probe) error {
	for {
		made, why, _ := c.kubectl(ctx, []byte(p.manifest), "create", "--dry-run=server", "--namespace=default", "-o=jsonpath={.metadata.annotations}", "-f", "-")
		if strings.Contains(made+why, p.says) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("admission is not at work, by which %s: %s%s", p.shows, made, why)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func splitAddress(address string) (host string, port int64, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	port, err = strconv.ParseInt(text, 10, 32)
	return host, port, err
}

// playService makes the Service an alias of a host of this machine: there is nobody who would forward to pods.
func (c *ControlPlane) playService(ctx context.Context, host string) error {
	clients, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: ManagerNamespace, Name: webhookService},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: host},
	}
	_, err = clients.CoreV1().Services(ManagerNamespace).Create(ctx, service, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("the webhooks' Service: %w", err)
	}
	return nil
}

// webhookPatience is the most that the API server takes. Where what is installed would be given up after three seconds, and
// submissions let in unseen, the programs of these tests may just have been waiting for a processor.
const webhookPatience = int64(30)

// callAt has the webhooks of a configuration called at a port of the Service.
func callAt(configuration *unstructured.Unstructured, port int64) error {
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return err
	}
	for i := range webhooks {
		webhook := webhooks[i].(map[string]any)
		if err := unstructured.SetNestedField(webhook, port, "clientConfig", "service", "port"); err != nil {
			return err
		}
		webhook["timeoutSeconds"] = webhookPatience
	}
	if webhooks == nil {
		return nil
	}
	return unstructured.SetNestedSlice(configuration.Object, webhooks, "webhooks")
}
