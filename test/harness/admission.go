package harness

import (
	"context"
	"fmt"
	"net"
	"strconv"
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

// probe is a template that everybody with rights may create.
const probe = `{"apiVersion": "taskonce.dev/v1alpha1", "kind": "TaskTemplate", "metadata": {"name": "probe"}, "spec": {"effect": {"http": {"url": "https://probe.example/"}}}}`

// AwaitWebhooks returns when the API server reaches the webhooks, which it does a moment after the operator is ready.
func (c *ControlPlane) AwaitWebhooks(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		_, _, err := c.kubectl(ctx, []byte(probe), "create", "--dry-run=server", "--namespace=default", "-f", "-")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the webhooks are not reached: %w", err)
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

// callAt has the webhooks of a configuration called at a port of the Service.
func callAt(configuration *unstructured.Unstructured, port int64) error {
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return err
	}
	for i := range webhooks {
		if err := unstructured.SetNestedField(webhooks[i].(map[string]any), port, "clientConfig", "service", "port"); err != nil {
			return err
		}
	}
	if webhooks == nil {
		return nil
	}
	return unstructured.SetNestedSlice(configuration.Object, webhooks, "webhooks")
}
