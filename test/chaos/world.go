package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

// managerProgram is the operator in the run's folder, built so that it can be told where to die.
const managerProgram = "manager"

// world is everything that a run takes place in.
type world struct {
	options   Options
	dir       string // logs and the ledger
	plane     *harness.ControlPlane
	namespace string
	api       client.Client
	receiver  *receiver
	rights    string // the path of a kubeconfig with the operator's rights
	mode      mode
	replicas  []*replica
	history   history
	tally     tally
}

// open brings everything up. What it returns must be shut, also on an error.
func open(ctx context.Context, options Options) (w *world, err error) {
	w = &world{options: options, dir: options.Dir, history: history{begun: time.Now()}}
	if w.dir == "" {
		if w.dir, err = os.MkdirTemp("", "taskonce-chaos-"); err != nil {
			return w, err
		}
	}
	if w.receiver, err = startReceiver(options, w.dir); err != nil {
		return w, err
	}
	var work errgroup.Group
	work.Go(func() error { return harness.Build(ctx, w.dir, "faults", "./cmd/"+managerProgram) })
	work.Go(func() (err error) {
		w.plane, err = harness.Start(harness.Options{CRDs: true})
		return err
	})
	if err := work.Wait(); err != nil {
		return w, err
	}
	if w.api, err = connect(w.plane.Config); err != nil {
		return w, err
	}
	if w.namespace, err = w.plane.Namespace(ctx); err != nil {
		return w, err
	}
	if w.rights, err = w.plane.ManagerKubeconfig(ctx); err != nil {
		return w, err
	}
	w.mode = elected
	for i := range 2 {
		r, err := w.supervise(fmt.Sprintf("manager-%d", i+1), w.mode)
		if err != nil {
			return w, err
		}
		w.replicas = append(w.replicas, r)
	}
	return w, w.applyTemplates(ctx)
}

// supervise makes a replica, and keeps it running until it is closed.
func (w *world) supervise(name string, m mode) (*replica, error) {
	r := &replica{
		manager: harness.Manager{Program: filepath.Join(w.dir, managerProgram), Log: filepath.Join(w.dir, name+".log")},
		tally:   &w.tally, mode: m, done: make(chan struct{}),
	}
	if w.options.Weakness != "" {
		r.manager.Environment = []string{"TASKONCE_FAULT=" + w.options.Weakness}
	}
	var err error
	if r.census, err = harness.UnusedAddress(); err != nil {
		return nil, err
	}
	if r.wire, err = openWire(w.rights, w.dir, name); err != nil {
		return nil, err
	}
	r.manager.Kubeconfig = r.wire.kubeconfig
	go r.run()
	return r, nil
}

// shut ends whatever runs, and removes or names the folder.
func (w *world) shut(keep bool) error {
	var errs []error
	for _, r := range w.replicas {
		errs = append(errs, r.close())
	}
	if w.receiver != nil {
		errs = append(errs, w.receiver.close())
	}
	if w.plane != nil {
		errs = append(errs, w.plane.Stop())
	}
	if w.options.Dir == "" && w.dir != "" && !keep {
		errs = append(errs, os.RemoveAll(w.dir))
	}
	return errors.Join(errs...)
}

// connect returns a client that does not wait for ever: the API server may be gone, and etcd may be paused.
func connect(config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	impatient := rest.CopyConfig(config)
	impatient.Timeout = 10 * time.Second
	impatient.Wrap(func(next http.RoundTripper) http.RoundTripper { return once{next} })
	return client.New(impatient, client.Options{Scheme: scheme})
}

// once takes away what makes client-go repeat a request by itself: a client that was told AlreadyExists must not have
// created the thing in that very call.
type once struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (o once) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := o.next.RoundTrip(request)
	if err == nil {
		answer.Header.Del("Retry-After")
	}
	return answer, err
}

// until waits for a condition that tells nobody when it becomes true.
func until(ctx context.Context, what string, condition func(context.Context) (bool, error)) error {
	if err := wait.PollUntilContextTimeout(ctx, glance, patience, true, condition); err != nil {
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return nil
}
