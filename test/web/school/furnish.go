package school

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/taskonce/taskonce/test/harness"
)

// sampleReceiver is the address that the template names: the receiver of make dev.
const sampleReceiver = "http://127.0.0.1:8090"

// furnish makes the namespace and the template, and lets the gateways submit there.
func (s *School) furnish(ctx context.Context) error {
	if _, err := s.Plane.GatewayKubeconfig(ctx); err != nil { // its role
		return err
	}
	template, err := s.template()
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"create", "namespace", Namespace},
		{"create", "rolebinding", harness.GatewayServiceAccount, "-n", Namespace, "--clusterrole=" + harness.GatewayServiceAccount, "--serviceaccount=" + harness.ManagerNamespace + ":" + harness.GatewayServiceAccount},
		{"apply", "-n", Namespace, "-f", template},
		{"wait", "-n", Namespace, "--for=condition=Ready", "--timeout=30s", "tasktemplate/award-homework"},
	} {
		if _, _, err := s.Plane.Kubectl(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// template writes the example's, with this school's receiver, to a file, and returns its path.
func (s *School) template() (string, error) {
	root, err := harness.Root()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(root, "examples", "homework", "template.yaml"))
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.bin, "template.yaml")
	return path, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), sampleReceiver, s.receiver)), 0o600)
}
