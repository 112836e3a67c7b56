package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// OldestKubernetes is the oldest minor version that the operator is tested with.
const OldestKubernetes = "1.32"

// What the caches hold of submissions and decisions: the work in hand, and not history.
var (
	unfinished = fields.AndSelectors(
		fields.OneTermNotEqualSelector("status.phase", string(v1alpha1.PhaseSuccess)),
		fields.OneTermNotEqualSelector("status.phase", string(v1alpha1.PhaseFailed)),
	)
	unanswered = fields.OneTermEqualSelector("status.state", string(v1alpha1.DecisionPending))
)

// checkSelection returns nil where the API server selects as the caches will ask it to. One that is too old does not, nor
// does a newer one where an old one, or somebody's copy of the kinds, has dropped what they say of selectable fields.
func checkSelection(ctx context.Context, config *rest.Config, reader client.Reader, namespaces []string) error {
	for _, kind := range []struct {
		list client.ObjectList
		by   fields.Selector
	}{{&v1alpha1.TaskSubmissionList{}, unfinished}, {&v1alpha1.TaskDecisionList{}, unanswered}} {
		namespace := client.InNamespace(orAll(namespaces)[0])
		err := reader.List(ctx, kind.list, namespace, client.MatchingFieldsSelector{Selector: kind.by}, client.Limit(1))
		if apierrors.IsBadRequest(err) {
			return fmt.Errorf("the API server (Kubernetes %s) does not select by fields of our kinds: the operator needs Kubernetes %s or later, and config/crd applied to it as it is: %w",
				kubernetesVersion(config), OldestKubernetes, err)
		}
		if err != nil {
			return fmt.Errorf("the API server cannot be asked for what there is to do: %w", err)
		}
	}
	return nil
}

// kubernetesVersion is what the API server says that it is, for people.
func kubernetesVersion(config *rest.Config) string {
	asking, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return "of an unknown version"
	}
	said, err := asking.ServerVersion()
	if err != nil {
		return "of an unknown version"
	}
	return said.GitVersion
}
