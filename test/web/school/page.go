package school

import (
	"context"

	"github.com/taskonce/taskonce/test/harness"
)

// OpenPage starts a gateway that shows the page of a namespace to whoever is at this machine, and returns its URL.
func (s *School) OpenPage(ctx context.Context, namespace string) (string, error) {
	kubeconfig, err := s.Plane.GatewayKubeconfig(ctx)
	if err != nil {
		return "", err
	}
	role := []string{"create", "rolebinding", "taskonce-gateway-page", "-n", namespace, "--clusterrole=taskonce-gateway-page",
		"--serviceaccount=" + harness.ManagerNamespace + ":" + harness.GatewayServiceAccount}
	if _, _, err := s.Plane.Kubectl(ctx, role...); err != nil {
		return "", err
	}
	address, err := harness.UnusedAddress()
	if err != nil {
		return "", err
	}
	flags := []string{"--page-bind-address=" + address, "--page-authentication=none", "--page-namespaces=" + namespace}
	process, _, err := harness.Gateway{Program: s.program("gateway"), Kubeconfig: kubeconfig, Log: s.log("gateway"), Flags: flags}.Start(ctx)
	return "http://" + address, s.Processes.Add(process, err)
}

// Receiver is the URL of what the school's effects go to.
func (s *School) Receiver() string { return s.receiver }
