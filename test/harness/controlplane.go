package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// startTimeout is for a machine that is busy with other tests: kube-apiserver alone takes about four seconds.
const startTimeout = 2 * time.Minute

// stopTimeout is longer than kube-apiserver waits for requests that are under way, which is a minute.
const stopTimeout = 90 * time.Second

// Options says how a control plane is run. The zero value gives a bare and temporary one.
type Options struct {
	// Dir keeps the state between runs: what is in etcd, and the key that signs service accounts' tokens. It is
	// created where missing, and used by one control plane at a time. Empty: a temporary folder, removed by Stop.
	Dir string

	// CRDs installs, or updates, the kinds of config/crd/bases.
	CRDs bool

	// SecurePort is the port of the API server on 127.0.0.1. Zero: a free one.
	SecurePort int

	// Controllers are those of kube-controller-manager that run, such as job-controller. None: it is not started.
	Controllers []string

	// APIServerFlags are added to kube-apiserver's flags, without the leading dashes.
	APIServerFlags map[string]string
}

// ControlPlane is a running etcd and kube-apiserver. Its methods may be called from several goroutines, except those
// that start and stop.
type ControlPlane struct {
	// Config authenticates as a member of system:masters, without client-side rate limits.
	Config *rest.Config

	// Kubeconfig is the path of a file that says the same as Config.
	Kubeconfig string

	// Dir holds the kubeconfig files and the logs of both programs: etcd.log and kube-apiserver.log.
	Dir string

	// Programs is the folder of etcd, kube-apiserver and kubectl.
	Programs string

	root      string // of this repository
	temporary bool
	lock      *os.File
	logs      []*os.File
	env       *envtest.Environment
	manager   *Process // kube-controller-manager
}

// Start runs etcd and kube-apiserver and returns when they serve. On an error nothing is left running.
func Start(options Options) (*ControlPlane, error) {
	c := &ControlPlane{Dir: options.Dir}
	if err := c.start(options); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the control plane: %w", err), c.Stop())
	}
	return c, nil
}

func (c *ControlPlane) start(options Options) (err error) {
	if c.root, err = Root(); err != nil {
		return err
	}
	if c.Programs, err = programs(c.root); err != nil {
		return err
	}
	if err := c.openDir(); err != nil {
		return err
	}
	if c.env, err = c.environment(options); err != nil {
		return err
	}
	if c.Config, err = c.env.Start(); err != nil {
		return fmt.Errorf("%w\n%s", err, c.logTail())
	}
	c.Config.QPS = -1
	c.Kubeconfig = filepath.Join(c.Dir, "kubeconfig")
	if err := os.WriteFile(c.Kubeconfig, c.env.KubeConfig, 0o600); err != nil {
		return err
	}
	if err := c.checkVersion(); err != nil {
		return err
	}
	return c.startControllers(options.Controllers)
}

// Stop ends all programs. A temporary folder is removed; a folder that the caller named is kept.
func (c *ControlPlane) Stop() error {
	var errs []error
	if c.manager != nil {
		c.manager.Kill() // it has nothing to store
		c.manager = nil
	}
	if c.env != nil {
		errs = append(errs, c.env.Stop())
	}
	for _, log := range c.logs {
		errs = append(errs, log.Close())
	}
	c.logs = nil
	return errors.Join(append(errs, c.closeDir())...)
}

// StopAPIServer ends kube-apiserver and leaves etcd running, so that a test can see what happens without it.
func (c *ControlPlane) StopAPIServer() error {
	return c.env.ControlPlane.APIServer.Stop()
}

// StartAPIServer starts kube-apiserver again after StopAPIServer: same port, same certificates, same tokens. It
// returns when the API server is healthy.
func (c *ControlPlane) StartAPIServer() error {
	return c.env.ControlPlane.APIServer.Start()
}
