package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/taskonce/taskonce/test/harness"
)

const (
	receiverAddress = "127.0.0.1:8090" // the samples name it
	probeAddress    = "127.0.0.1:8081"
	webhookAddress  = "127.0.0.1:9443"

	// stopPatience is longer than the manager's own grace period for effects that are under way.
	stopPatience = time.Minute
)

// templates are what a platform team would have prepared.
var templates = []string{"award-points", "charge-card", "refund-order", "monthly-report"}

// world is what runs beside the control plane.
type world struct {
	c         *harness.ControlPlane
	bin       string
	processes harness.Processes
}

// start returns when the receiver listens, the manager is ready and the templates are there.
func (w *world) start(ctx context.Context) error {
	kubeconfig, err := w.c.ManagerKubeconfig(ctx)
	if err != nil {
		return err
	}
	err = w.launch(ctx, "http://"+receiverAddress, func() (*harness.Process, error) {
		return harness.Launch("receiver", w.log("receiver"), nil, filepath.Join(w.bin, "receiver"), "--listen", receiverAddress, "--log", ledgerPath(w.c))
	})
	if err != nil {
		return err
	}
	if err := w.c.InstallAdmission(ctx, webhookAddress); err != nil {
		return err
	}
	manager := harness.Manager{
		Program: filepath.Join(w.bin, "manager"), Kubeconfig: kubeconfig, Log: w.log("manager"), Probe: probeAddress, Webhooks: webhookAddress,
	}
	if err := w.launch(ctx, "http://"+probeAddress+"/readyz", manager.Launch); err != nil {
		return err
	}
	return w.applyTemplates(ctx)
}

// applyTemplates waits for the webhooks: without them no template is taken.
func (w *world) applyTemplates(ctx context.Context) error {
	if err := w.c.AwaitWebhooks(ctx); err != nil {
		return err
	}
	for _, template := range templates {
		if _, _, err := w.c.Kubectl(ctx, "apply", "-n", "default", "-f", "config/samples/template-"+template+".yaml"); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) log(program string) string { return filepath.Join(w.c.Dir, program+".log") }

// launch starts one of the programs and returns when its address answers.
func (w *world) launch(ctx context.Context, url string, start func() (*harness.Process, error)) error {
	if harness.Answers(ctx, url) {
		return fmt.Errorf("something else is already listening at %s", url)
	}
	p, err := start()
	if err := w.processes.Add(p, err); err != nil {
		return err
	}
	return p.Await(ctx, func(ctx context.Context) bool { return harness.Answers(ctx, url) })
}

func ledgerPath(c *harness.ControlPlane) string { return filepath.Join(c.Dir, "ledger.jsonl") }
