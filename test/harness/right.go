package harness

import (
	"context"
	"fmt"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Right is something that somebody may do.
type Right = authorizationv1.ResourceAttributes

// AccountUser is the name that a service account is known to the API server by.
func AccountUser(namespace, account string) string {
	return "system:serviceaccount:" + namespace + ":" + account
}

// AwaitRight returns when the API server grants a right: of a role that was bound just now it learns a moment later.
func (c *ControlPlane) AwaitRight(ctx context.Context, user string, right Right) error {
	clients, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &right}}
	for {
		answer, err := clients.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("asking what %s may do: %w", user, err)
		}
		if answer.Status.Allowed {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is never granted %+v", user, right)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// awaitRights waits for a right of each binding of a service account of the manager's namespace.
func (c *ControlPlane) awaitRights(ctx context.Context, account string, rights ...Right) error {
	for _, right := range rights {
		if err := c.AwaitRight(ctx, AccountUser(ManagerNamespace, account), right); err != nil {
			return err
		}
	}
	return nil
}
