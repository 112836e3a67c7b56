package harness

import (
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
)

// checkVersion returns an error where KUBERNETES_VERSION asks for another minor version than the one that runs.
func (c *ControlPlane) checkVersion() error {
	asked := os.Getenv("KUBERNETES_VERSION")
	if asked == "" {
		return nil
	}
	client, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		return err
	}
	runs, err := client.ServerVersion()
	if err != nil {
		return err
	}
	return sameMinor(asked, runs.GitVersion)
}

func sameMinor(asked, runs string) error {
	a, err := version.ParseGeneric(asked)
	if err != nil {
		return fmt.Errorf("KUBERNETES_VERSION is a release such as v1.36.2: %w", err)
	}
	b, err := version.ParseGeneric(runs)
	if err != nil {
		return err
	}
	if a.Major() != b.Major() || a.Minor() != b.Minor() {
		return fmt.Errorf("KUBERNETES_VERSION asks for %s, and the API server is %s", asked, runs)
	}
	return nil
}
