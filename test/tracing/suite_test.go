// Package tracing_test runs the real operator with a collector, and looks at the traces that arrive there.
package tracing_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/collector"
	"github.com/taskonce/taskonce/test/harness"
)

// installation is what all tests share. They run one after another: one of them kills the operator.
var installation struct {
	plane     *harness.ControlPlane
	api       client.WithWatch
	dir       string // of programs
	receiver  string // its address
	ledger    string // its file
	collector *collector.Collector
	manager   *harness.Process
	settings  harness.Manager
}

func TestMain(m *testing.M) {
	harness.Main(func() (int, error) { return run(m) })
}

func run(m *testing.M) (code int, err error) {
	ctx, i := context.Background(), &installation
	if i.dir, err = os.MkdirTemp("", "taskonce-tracing-"); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(i.dir)) }()
	if err := harness.Build(ctx, i.dir, "", "./cmd/manager", "./cmd/kubectl-taskonce", "./test/receiver"); err != nil {
		return 1, err
	}
	if i.plane, err = harness.Start(harness.Options{CRDs: true}); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, i.plane.Stop()) }()
	if i.collector, err = collector.Start(); err != nil {
		return 1, err
	}
	i.ledger = filepath.Join(i.plane.Dir, "ledger.jsonl")
	receiver, address, err := harness.LaunchReceiver(ctx, filepath.Join(i.dir, "receiver"), filepath.Join(i.plane.Dir, "receiver.log"), i.ledger)
	if err != nil {
		return 1, err
	}
	i.receiver = address
	defer receiver.Kill()
	if err := installOperator(ctx); err != nil {
		return 1, err
	}
	defer func() { i.manager.Kill() }()
	return m.Run(), nil
}

// installOperator starts an operator that serves webhooks and exports its traces soon.
func installOperator(ctx context.Context) error {
	i := &installation
	scheme := runtime.NewScheme()
	err := errors.Join(v1alpha1.AddToScheme(scheme), clientgoscheme.AddToScheme(scheme))
	if err != nil {
		return err
	}
	if i.api, err = client.NewWithWatch(i.plane.Config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	kubeconfig, err := i.plane.ManagerKubeconfig(ctx)
	if err != nil {
		return err
	}
	webhooks, err := harness.UnusedAddress()
	if err != nil {
		return err
	}
	if err := i.plane.InstallAdmission(ctx, webhooks); err != nil {
		return err
	}
	i.settings = harness.Manager{
		Program: filepath.Join(i.dir, "manager"), Kubeconfig: kubeconfig, Log: filepath.Join(i.plane.Dir, "manager.log"), Webhooks: webhooks,
		Environment: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + i.collector.URL, "OTEL_BSP_SCHEDULE_DELAY=50"},
	}
	return startOperator(ctx)
}

func startOperator(ctx context.Context) (err error) {
	if installation.manager, err = installation.settings.Start(ctx); err != nil {
		return err
	}
	return installation.plane.AwaitWebhooks(ctx)
}
