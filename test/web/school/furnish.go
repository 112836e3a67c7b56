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
	for _, args := range [][]string{
		{"create", "namespace", Namespace},
		{"create", "rolebinding", harness.GatewayServiceAccount, "-n", Namespace, "--clusterrole=" + harness.GatewayServiceAccount, "--serviceaccount=" + harness.ManagerNamespace + ":" + harness.GatewayServiceAccount},
	} {
		if _, _, err := s.Plane.Kubectl(ctx, args...); err != nil {
			return err
		}
	}
	return s.AddTemplate(ctx, strings.NewReplacer())
}

// AddTemplate makes the example's template, with some of its text replaced, and returns when it can be used.
func (s *School) AddTemplate(ctx context.Context, edit *strings.Replacer) error {
	root, err := harness.Root()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(root, "examples", "homework", "template.yaml"))
	if err != nil {
		return err
	}
	path := filepath.Join(s.bin, "template.yaml")
	if err := os.WriteFile(path, []byte(edit.Replace(strings.ReplaceAll(string(text), sampleReceiver, s.receiver))), 0o600); err != nil {
		return err
	}
	if _, _, err := s.Plane.Kubectl(ctx, "apply", "-n", Namespace, "-f", path); err != nil {
		return err
	}
	_, _, err = s.Plane.Kubectl(ctx, "wait", "--for=condition=Ready", "--timeout=2m", "-n", Namespace, "-f", path)
	return err
}
