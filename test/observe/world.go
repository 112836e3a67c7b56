package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// patience is how long anything is waited for. It is no measure: a run that is slow is not wrong.
const patience = 3 * time.Minute

// world is everything that runs.
type world struct {
	dir        string // of programs, logs, the ledger and the audit log
	plane      *harness.ControlPlane
	api        client.WithWatch
	namespace  string
	receiver   string // its address
	metrics    string // the operator's address
	templates  int    // how many there are
	prometheus *prometheus
	history    *history

	close []func() error
}

// open brings everything up. What it returns must be shut, also on an error.
func open(ctx context.Context) (w *world, err error) {
	w = &world{}
	if w.dir, err = os.MkdirTemp("", "taskonce-observe-"); err != nil {
		return w, err
	}
	w.close = append(w.close, func() error { return os.RemoveAll(w.dir) })
	if err := w.bringUp(ctx); err != nil {
		return w, err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), clientgoscheme.AddToScheme(scheme)); err != nil {
		return w, err
	}
	if w.api, err = client.NewWithWatch(w.plane.Config, client.Options{Scheme: scheme}); err != nil {
		return w, err
	}
	if w.namespace, err = w.plane.Namespace(ctx); err != nil {
		return w, err
	}
	if err := w.countRefusals(ctx); err != nil {
		return w, err
	}
	if err := w.startOperator(ctx); err != nil {
		return w, err
	}
	if err := w.applyTemplates(ctx); err != nil {
		return w, err
	}
	if w.history, err = w.follow(ctx); err != nil {
		return w, err
	}
	w.prometheus, err = w.startPrometheus(ctx)
	return w, err
}

// bringUp does at once what takes long: the control plane, and the building of the programs.
func (w *world) bringUp(ctx context.Context) error {
	flags, err := w.auditFlags()
	if err != nil {
		return err
	}
	var work errgroup.Group
	work.Go(func() (err error) {
		if w.plane, err = harness.Start(harness.Options{CRDs: true, APIServerFlags: flags}); err == nil {
			w.close = append(w.close, w.plane.Stop)
		}
		return err
	})
	work.Go(func() error { return harness.Build(ctx, w.dir, "", "./cmd/manager", "./test/receiver") })
	if err := work.Wait(); err != nil {
		return err
	}
	process, address, err := harness.LaunchReceiver(ctx, w.path("receiver"), w.path("receiver.log"), w.path("ledger.jsonl"))
	if err != nil {
		return err
	}
	w.receiver = address
	w.close = append(w.close, func() error { process.Kill(); return nil })
	return nil
}

// startOperator starts an operator that elects a leader, seldom renews its lease, and serves metrics and webhooks.
func (w *world) startOperator(ctx context.Context) (err error) {
	kubeconfig, err := w.plane.ManagerKubeconfig(ctx)
	if err != nil {
		return err
	}
	webhooks, err := harness.UnusedAddress()
	if err != nil {
		return err
	}
	if err := w.plane.InstallAdmission(ctx, webhooks); err != nil {
		return err
	}
	if w.metrics, err = harness.UnusedAddress(); err != nil {
		return err
	}
	manager, err := harness.Manager{
		Program: w.path("manager"), Kubeconfig: kubeconfig, Log: w.path("manager.log"), Webhooks: webhooks,
		Flags: []string{
			"--metrics-bind-address=" + w.metrics, "--leader-elect", "--leader-election-namespace=" + harness.ManagerNamespace,
			"--leader-election-lease-duration=5m", "--leader-election-renew-deadline=4m", "--leader-election-retry-period=1m",
		},
	}.Start(ctx)
	if manager != nil {
		w.close = append(w.close, func() error { manager.Kill(); return nil }) // what it was doing is of no interest
	}
	if err != nil {
		return err
	}
	return w.plane.AwaitWebhooks(ctx)
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// shut ends whatever runs, in the opposite order.
func (w *world) shut() error {
	var errs []error
	for i := len(w.close) - 1; i >= 0; i-- {
		errs = append(errs, w.close[i]())
	}
	return errors.Join(errs...)
}

func (w *world) ledger() ([]ledger.Entry, error) { return ledger.Read(w.path("ledger.jsonl")) }

// until waits for what tells nobody when it is so.
func until(ctx context.Context, what string, condition func(context.Context) (bool, error)) error {
	if err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, condition); err != nil {
		return fmt.Errorf("waiting for %s: %w", strings.TrimSpace(what), err)
	}
	return nil
}
