package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Root returns the repository's folder: the nearest one above the working directory whose go.mod names this module.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if bytes.HasPrefix(text, []byte("module github.com/taskonce/taskonce\n")) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("the working directory is not inside the taskonce repository")
		}
		dir = parent
	}
}

// programs returns the folder of etcd, kube-apiserver and kubectl.
func programs(root string) (string, error) { return ensure(root, "etcd", "kube-apiserver", "kubectl") }

// ensure returns the folder of some of the control plane's programs. Where they are not built yet this takes minutes
// and shows its progress on standard error: run `make controlplane` first, `go test` has a time limit.
func ensure(root string, names ...string) (string, error) {
	ensure := exec.Command(filepath.Join(root, "hack", "controlplane", "ensure.sh"), names...)
	ensure.Stderr = os.Stderr
	out, err := ensure.Output()
	if err != nil {
		return "", fmt.Errorf("hack/controlplane/ensure.sh: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Environ is the environment of a command that speaks to this control plane: its kubeconfig, and its programs on the
// path behind those of the given folders. What kubectl discovers is kept here: by itself it keeps it for six hours
// under the address, and a later control plane may get the same port.
func (c *ControlPlane) Environ(folders ...string) []string {
	path := slices.Concat(folders, []string{c.Programs, os.Getenv("PATH")})
	return append(os.Environ(), "KUBECONFIG="+c.Kubeconfig, "KUBECACHEDIR="+filepath.Join(c.Dir, "run", "discovered"),
		"PATH="+strings.Join(path, string(os.PathListSeparator)))
}

// Kubectl runs the real kubectl as an administrator. An error holds what it wrote to standard error.
func (c *ControlPlane) Kubectl(ctx context.Context, args ...string) (stdout, stderr string, err error) {
	return c.kubectl(ctx, nil, args...)
}

func (c *ControlPlane) kubectl(ctx context.Context, stdin []byte, args ...string) (stdout, stderr string, err error) {
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, c.program("kubectl"), args...)
	cmd.Dir = c.root
	cmd.Env = c.Environ()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &errOut
	if err := cmd.Run(); err != nil {
		return out.String(), errOut.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errOut.String()))
	}
	return out.String(), errOut.String(), nil
}
