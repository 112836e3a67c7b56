package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

const (
	// patience is how long anything is waited for. It is no measure: a run that is slow is not wrong.
	patience = 5 * time.Minute
	// sweepInterval of the manager is its default, said here because sweeps are requests that a verdict knows.
	sweepInterval = 30 * time.Second
)

// world is everything that is measured, or measured with.
type world struct {
	plane    *harness.ControlPlane
	manager  *harness.Process
	receiver *receiver
	api      client.WithWatch // a client of the operator's kinds
	bareAPI  client.Client
	metrics  rest.Interface
	specimen *specimen

	mu       sync.Mutex
	expected []string // the receiver's keys of all that was submitted
}

// open brings everything up. What it returns must be shut, also on an error.
func open(ctx context.Context) (w *world, err error) {
	w = &world{}
	if w.plane, err = harness.Start(harness.Options{CRDs: true}); err != nil {
		return w, err
	}
	if w.receiver, err = startReceiver(); err != nil {
		return w, err
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return w, err
	}
	if w.api, err = client.NewWithWatch(w.plane.Config, client.Options{Scheme: scheme}); err != nil {
		return w, err
	}
	if w.bareAPI, err = bareClient(w.plane.Config); err != nil {
		return w, err
	}
	clients, err := kubernetes.NewForConfig(w.plane.Config)
	if err != nil {
		return w, err
	}
	w.metrics = clients.RESTClient()
	err = w.startManager(ctx)
	return w, err
}

// startManager builds the operator and starts it with the rights that it is installed with. It returns when it is ready.
func (w *world) startManager(ctx context.Context) error {
	if err := harness.Build(ctx, w.plane.Dir, "", "./cmd/manager"); err != nil {
		return err
	}
	kubeconfig, err := w.plane.ManagerKubeconfig(ctx)
	if err != nil {
		return err
	}
	w.manager, err = harness.Manager{
		Program: filepath.Join(w.plane.Dir, "manager"), Kubeconfig: kubeconfig, Log: filepath.Join(w.plane.Dir, "manager.log"),
		Flags: []string{"--sweep-interval=" + sweepInterval.String()},
	}.Start(ctx)
	return err
}

// shut ends what runs.
func (w *world) shut() error {
	var errs []error
	if w.manager != nil {
		w.manager.Kill() // nothing is under way, or nobody wants to know
	}
	if w.receiver != nil {
		errs = append(errs, w.receiver.server.Close())
	}
	if w.plane != nil {
		errs = append(errs, w.plane.Stop())
	}
	return errors.Join(errs...)
}

// expect notes that a submission will have its effect.
func (w *world) expect(submission *v1alpha1.TaskSubmission) *v1alpha1.TaskSubmission {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expected = append(w.expected, submission.Namespace+"/"+submission.Name)
	return submission
}

// until waits for what tells nobody when it is so.
func until(ctx context.Context, what string, condition func(context.Context) (bool, error)) error {
	if err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, condition); err != nil {
		return fmt.Errorf("waiting for %s: %w", strings.TrimSpace(what), err)
	}
	return nil
}
