package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

// world is everything that the steps play in.
type world struct {
	dir       string // logs and the ledger
	plane     *harness.ControlPlane
	namespace string
	api       client.WithWatch
	journal   *journal
	receiver  *receiver
	manager   *manager
	container *container

	close []func() error
}

// open brings up the control plane, the receiver and the operator, and makes the templates.
// What it returns must be shut, also on an error.
func open(ctx context.Context, options Options) (w *world, err error) {
	w = &world{plane: options.ControlPlane}
	if w.dir, err = os.MkdirTemp("", "taskonce-demo-"); err != nil {
		return w, err
	}
	if err := w.bringUp(ctx, options.Fault); err != nil {
		return w, err
	}
	if w.api, err = connect(w.plane.Config); err != nil {
		return w, err
	}
	if w.namespace, err = w.plane.Namespace(ctx); err != nil {
		return w, err
	}
	if w.journal, err = follow(ctx, w.api, w.namespace); err != nil {
		return w, err
	}
	w.container = newContainer()
	if err := w.playPods(ctx); err != nil {
		return w, err
	}
	if err := w.startManager(ctx); err != nil {
		return w, err
	}
	err = w.applyTemplates(ctx)
	return w, err
}

// The programs in the demo's folder.
const (
	managerProgram  = "manager"
	receiverProgram = "receiver"
	pluginProgram   = "kubectl-taskonce"
)

// controllers are those of Kubernetes that the demo needs. Nothing collects what is left over, so that it can be counted.
var controllers = []string{"job-controller"}

// playPods plays the demo's containers until it is shut.
func (w *world) playPods(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	w.close = append(w.close, func() error { cancel(); return nil })
	return w.plane.PlayPods(ctx, w.namespace, w.container.run, func(error) {}) // then the pod never ends, and the step says so
}

// bringUp does at once what takes long: the control plane, and the building of the programs.
func (w *world) bringUp(ctx context.Context, fault string) error {
	var work errgroup.Group
	if w.plane == nil {
		work.Go(func() (err error) {
			if w.plane, err = harness.Start(harness.Options{CRDs: true, Controllers: controllers}); err == nil {
				w.close = append(w.close, w.plane.Stop)
			}
			return err
		})
	}
	work.Go(func() (err error) {
		var tags string
		if fault != "" {
			tags = "faults"
		}
		if err := harness.Build(ctx, w.dir, tags, "./cmd/manager", "./cmd/kubectl-taskonce", "./test/receiver"); err != nil {
			return err
		}
		w.manager = &manager{dir: w.dir, fault: fault}
		w.receiver, err = startReceiver(ctx, w.dir)
		return err
	})
	return work.Wait()
}

func (w *world) startManager(ctx context.Context) (err error) {
	if w.manager.kubeconfig, err = w.plane.ManagerKubeconfig(ctx); err != nil {
		return err
	}
	return w.manager.start(ctx)
}

// shut ends whatever runs.
func (w *world) shut() error {
	if w.journal != nil {
		w.journal.stop() // an API server waits for its watches
	}
	if w.manager != nil && w.manager.Process != nil {
		w.manager.Kill()
	}
	if w.receiver != nil {
		w.receiver.Kill()
	}
	var errs []error
	for _, closing := range w.close {
		errs = append(errs, closing())
	}
	return errors.Join(errs...)
}

// connect returns a client of its own, with connections of its own.
func connect(config *rest.Config) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), clientgoscheme.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}

func fromVersion(resourceVersion string) *metav1.ListOptions {
	return &metav1.ListOptions{ResourceVersion: resourceVersion}
}

// downstreamKey of a submission in the demo's namespace: what the receiver knows it by.
func downstreamKey(namespace, name string) string { return fmt.Sprintf("%s/%s", namespace, name) }
