package setting

import (
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
)

// Cluster returns where the API server is and the credentials for it, by --kubeconfig, the variable KUBECONFIG, or the pod. It reads
// the files that these name, so that what is wrong with them is said before anybody is asked.
func Cluster() (*rest.Config, error) {
	found, err := config.GetConfig()
	if err == nil {
		_, err = rest.HTTPClientFor(found)
	}
	if _, pod := rest.InClusterConfig(); err != nil && pod != nil && !errors.Is(pod, rest.ErrNotInCluster) {
		err = fmt.Errorf("%w; this pod has no service account: %w", err, pod)
	}
	if err != nil {
		return nil, fmt.Errorf("no access to a cluster: %w; name a kubeconfig with --kubeconfig or the variable KUBECONFIG, or run it in a pod", err)
	}
	return found, nil
}
