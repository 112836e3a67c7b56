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
func (m *manager) start(ctx context.Context) error {
	health, err := harness.UnusedAddress()
	if err != nil {
		return err
	}
	var environment []string
	if m.fault != "" {
		environment = append(environment, "TASKONCE_FAULT="+m.fault)
	}
	m.Process, err = harness.Launch("manager", filepath.Join(m.dir, "manager.log"), environment, filepath.Join(m.dir, managerProgram),
		"--kubeconfig="+m.kubeconfig,
		"--leader-elect=false",
		"--metrics-bind-address=0",
		"--health-probe-bind-address="+health,
		"--allow-loopback-receivers",
	)
	if err != nil {
		return err
	}
	return m.Await(ctx, func(ctx context.Context) bool { return harness.Answers(ctx, "http://"+health+"/readyz") })
}
