package harness

import "context"

// Manager says how an operator process is run: alone, unless its flags say otherwise, without metrics, without webhooks unless told, and with
// receivers on this machine allowed.
type Manager struct {
	// Program is the path of the operator, and Kubeconfig that of what ManagerKubeconfig wrote.
	Program, Kubeconfig string
	// Log is the path of the file that its output is appended to.
	Log string
	// Environment is added to this process's own.
	Environment []string
	// Webhooks is where it serves its webhooks, as InstallAdmission was told. Empty: it serves none.
	Webhooks string
	// Flags are added to, or replace, those that every such process has.
	Flags []string
	// Probe is the address of its probes. Empty: Start takes an unused one, and Launch gives it none.
	Probe string
}

// Launch starts the process and does not wait until it is ready.
func (m Manager) Launch() (*Process, error) {
	if m.Probe == "" {
		m.Probe = "0"
	}
	flags := []string{
		"--kubeconfig=" + m.Kubeconfig, "--leader-elect=false", "--metrics-bind-address=0",
		"--health-probe-bind-address=" + m.Probe, "--allow-loopback-receivers",
	}
	if m.Webhooks == "" {
		flags = append(flags, "--webhook-bind-address=0")
	} else {
		flags = append(flags, "--webhook-bind-address="+m.Webhooks, "--webhook-service-namespace="+ManagerNamespace)
	}
	return Launch("manager", m.Log, m.Environment, m.Program, append(flags, m.Flags...)...)
}

// Start starts the process and returns when it is ready. What it returns may run, also on an error.
func (m Manager) Start(ctx context.Context) (p *Process, err error) {
	if m.Probe == "" {
		if m.Probe, err = UnusedAddress(); err != nil {
			return nil, err
		}
	}
	if p, err = m.Launch(); err != nil {
		return nil, err
	}
	return p, p.Await(ctx, func(ctx context.Context) bool { return Answers(ctx, "http://"+m.Probe+"/readyz") })
}
