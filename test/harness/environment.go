package harness

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// environment describes the control plane to envtest, without starting anything.
func (c *ControlPlane) environment(options Options) (*envtest.Environment, error) {
	// envtest makes serving certificates that are valid for a week, so they are new in each run, in a folder that
	// outlives a restart of the API server within it.
	run := filepath.Join(c.Dir, "run")
	if err := os.RemoveAll(run); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(run, 0o700); err != nil {
		return nil, err
	}
	etcd, err := c.etcd(run)
	if err != nil {
		return nil, err
	}
	apiServer, err := c.apiServer(run, options)
	if err != nil {
		return nil, err
	}

	existing := false
	env := &envtest.Environment{
		UseExistingCluster:       &existing,
		ControlPlane:             envtest.ControlPlane{Etcd: etcd, APIServer: apiServer, KubectlPath: c.program("kubectl")},
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  stopTimeout,
	}
	if options.CRDs {
		env.CRDDirectoryPaths = []string{filepath.Join(c.root, "config", "crd", "bases")}
		env.ErrorIfCRDPathMissing = true
		env.CRDInstallOptions.MaxTime = startTimeout
	}
	return env, nil
}

func (c *ControlPlane) etcd(run string) (*envtest.Etcd, error) {
	path, err := c.guard(run, "etcd")
	if err != nil {
		return nil, err
	}
	log, err := c.openLog("etcd.log")
	if err != nil {
		return nil, err
	}
	clients, err := UnusedAddress()
	if err != nil {
		return nil, err
	}
	peers, err := UnusedAddress()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(c.Dir, "etcd")
	etcd := &envtest.Etcd{Path: path, DataDir: data, Out: log, Err: log, URL: &url.URL{Scheme: "http", Host: clients}}
	etcd.Configure().Set("listen-peer-urls", "http://"+peers)
	return etcd, os.MkdirAll(data, 0o700)
}

func (c *ControlPlane) apiServer(run string, options Options) (*envtest.APIServer, error) {
	path, err := c.guard(run, "kube-apiserver")
	if err != nil {
		return nil, err
	}
	log, err := c.openLog("kube-apiserver.log")
	if err != nil {
		return nil, err
	}
	key, err := c.tokenKey()
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", options.SecurePort)
	if options.SecurePort == 0 {
		if address, err = UnusedAddress(); err != nil { // envtest's might be taken before it is listened on, and while it is restarted
			return nil, err
		}
	}
	server := &envtest.APIServer{Path: path, CertDir: run, Out: log, Err: log}
	if server.Address, server.Port, err = net.SplitHostPort(address); err != nil {
		return nil, err
	}
	flags := server.Configure()
	// envtest's issuer holds the port: tokens would end with the run.
	flags.Set("service-account-issuer", "https://kubernetes.default.svc")
	flags.Set("service-account-key-file", key)
	flags.Set("service-account-signing-key-file", key)
	for name, value := range options.APIServerFlags {
		flags.Set(name, value)
	}
	return server, nil
}

// guard returns the path of a program that runs the named one and ends it with this process.
func (c *ControlPlane) guard(run, name string) (string, error) {
	path := filepath.Join(run, name)
	if err := os.Symlink(filepath.Join(c.root, "test", "harness", "guard.sh"), path); err != nil {
		return "", err
	}
	return path, os.Symlink(c.program(name), path+".program")
}

func (c *ControlPlane) program(name string) string {
	return filepath.Join(c.Programs, name)
}
