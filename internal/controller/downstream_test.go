package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// Two clusters, or two namespaces, that share a receiver must not meet in one key (hazard 15).
func TestDownstreamKeyTellsClustersApartHazard15(t *testing.T) {
	action := types.NamespacedName{Namespace: "shop", Name: "order-42"}
	for _, c := range []struct{ scope, want, reason string }{
		{"", "shop/order-42", "without a scope, namespace and name: it survives the submission's re-creation"},
		{"eu-1", "eu-1/shop/order-42", "the scope comes first, and is not part of the namespace"},
	} {
		if got := (&Submissions{Scope: c.scope}).downstreamKey(action); got != c.want {
			t.Errorf("scope %q: %q; want %q: %s", c.scope, got, c.want, c.reason)
		}
	}
}
