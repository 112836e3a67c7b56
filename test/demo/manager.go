package main

import (
	"context"
	"path/filepath"

	"github.com/taskonce/taskonce/test/harness"
)

// manager is the operator: a process of its own, with the rights it is installed with and no others.
type manager struct {
	dir        string // of its program and its log
	kubeconfig string
	fault      string

	*harness.Process // the one that was started last
}

// start returns when the manager is ready.
func (m *manager) start(ctx context.Context) (err error) {
	var environment []string
	if m.fault != "" {
		environment = append(environment, "TASKONCE_FAULT="+m.fault)
	}
	m.Process, err = harness.Manager{
		Program: filepath.Join(m.dir, managerProgram), Kubeconfig: m.kubeconfig,
		Log: filepath.Join(m.dir, "manager.log"), Environment: environment,
	}.Start(ctx)
	return err
}
