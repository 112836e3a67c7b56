package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// manager is the operator: a process of its own, with the rights it is installed with and no others.
type manager struct {
	program    string
	kubeconfig string
	log        string
	fault      string

	running *process
}

// The manager in the demo's folder. What is run is the guard, which runs the program beside it and ends it when the
// demo is gone, however that ended.
const (
	managerGuard   = "manager"
	managerProgram = managerGuard + ".program"
)

// start returns when the manager is ready.
func (m *manager) start(ctx context.Context) error {
	health, err := unusedAddress()
	if err != nil {
		return err
	}
	var environment []string
	if m.fault != "" {
		environment = append(environment, "TASKONCE_FAULT="+m.fault)
	}
	m.running, err = launch("manager", m.log, environment, m.program,
		"--kubeconfig="+m.kubeconfig,
		"--leader-elect=false",
		"--metrics-bind-address=0",
		"--health-probe-bind-address="+health,
		"--allow-loopback-receivers",
	)
	if err != nil {
		return err
	}
	err = until(ctx, "the manager to be ready", func(ctx context.Context) (bool, error) {
		if err := m.running.ended(); err != nil {
			return false, err
		}
		return healthy(ctx, "http://"+health+"/readyz"), nil
	})
	if err != nil {
		m.kill()
		return fmt.Errorf("%w\n%s", err, m.tail())
	}
	return nil
}

func healthy(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// kill ends the manager as a crash of its machine would.
func (m *manager) kill() {
	if m.running != nil {
		m.running.kill()
	}
}

// stop lets the manager end in order: it must conclude what it has begun.
func (m *manager) stop() error { return m.running.stop(stopPatience) }

// tail returns the end of the manager's log.
func (m *manager) tail() string {
	const lines = 20
	text, err := os.ReadFile(m.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Sprintf("The manager's log ends with:\n%s", strings.Join(all[max(0, len(all)-lines):], "\n"))
}

// newManager builds the operator.
func newManager(ctx context.Context, root, dir, fault string) (*manager, error) {
	m := &manager{program: filepath.Join(dir, managerGuard), log: filepath.Join(dir, "manager.log"), fault: fault}
	var tags []string
	if fault != "" {
		tags = append(tags, "faults")
	}
	if err := os.Symlink(filepath.Join(root, "test", "harness", "guard.sh"), m.program); err != nil {
		return nil, err
	}
	return m, build(ctx, root, filepath.Join(dir, managerProgram), "./cmd/manager", tags...)
}
