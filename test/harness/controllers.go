package harness

import (
	"path/filepath"
	"strings"
)

// startControllers runs some of kube-controller-manager's controllers, alone and without limits on their requests.
func (c *ControlPlane) startControllers(names []string) error {
	if len(names) == 0 {
		return nil
	}
	dir, err := ensure(c.root, "kube-controller-manager")
	if err != nil {
		return err
	}
	c.manager, err = Launch("kube-controller-manager", filepath.Join(c.Dir, "kube-controller-manager.log"), nil,
		filepath.Join(dir, "kube-controller-manager"),
		"--kubeconfig="+c.Kubeconfig, "--controllers="+strings.Join(names, ","), "--leader-elect=false", "--secure-port=0",
		"--concurrent-job-syncs=20", "--kube-api-qps=1000", "--kube-api-burst=1000",
	)
	return err
}
