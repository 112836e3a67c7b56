package harness

import (
	"context"
)

// GatewayServiceAccount is the one that config/gateway makes, in the manager's namespace.
const GatewayServiceAccount = "taskonce-gateway"

// GatewayKubeconfig applies the service account and the rights of config/gateway, and returns the path of a kubeconfig
// file that authenticates as the gateway. What it may do in a namespace is what is bound there. ManagerKubeconfig must
// have been called: it makes the namespace.
func (c *ControlPlane) GatewayKubeconfig(ctx context.Context) (string, error) {
	if err := c.applyKinds(ctx, "config/gateway", nil, "ServiceAccount", "ClusterRole", "ClusterRoleBinding"); err != nil {
		return "", err
	}
	if err := c.awaitRights(ctx, GatewayServiceAccount, Right{Verb: "create", Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}); err != nil {
		return "", err
	}
	return c.accountKubeconfig(ctx, GatewayServiceAccount, "gateway")
}

// Gateway says how a gateway process is run: without TLS and without metrics, unless its flags say otherwise.
type Gateway struct {
	// Program is the path of the gateway, and Kubeconfig that of what GatewayKubeconfig wrote.
	Program, Kubeconfig string
	// Log is the path of the file that its output is appended to.
	Log string
	// Flags are added to, or replace, those that every such process has.
	Flags []string
	// Environment is added to the process's own.
	Environment []string
}

// Start starts the process and returns when it serves, with its URL. What it returns may run, also on an error.
func (g Gateway) Start(ctx context.Context) (p *Process, url string, err error) {
	address, err := UnusedAddress()
	if err != nil {
		return nil, "", err
	}
	flags := []string{"--kubeconfig=" + g.Kubeconfig, "--bind-address=" + address, "--plain-http", "--metrics-bind-address=0", "--health-probe-bind-address=0"}
	if p, err = Launch("gateway", g.Log, g.Environment, g.Program, append(flags, g.Flags...)...); err != nil {
		return nil, "", err
	}
	url = "http://" + address
	return p, url, p.Await(ctx, func(ctx context.Context) bool { return Answers(ctx, url+"/openapi.json") })
}
