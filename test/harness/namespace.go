package harness

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Namespace creates a namespace of its own for a test and returns its name. Nothing removes it before the control
// plane ends: without a controller manager a namespace that is deleted stays Terminating.
func (c *ControlPlane) Namespace(ctx context.Context) (string, error) {
	clients, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return "", err
	}
	namespace, err := clients.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return namespace.Name, nil
}
