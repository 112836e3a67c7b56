package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

const (
	// patience is how long anything is waited for. It is no measure: a run that is slow is not wrong.
	patience = 30 * time.Minute
	// sweepInterval of the manager is its default, said here because sweeps are requests that a verdict knows.
	sweepInterval = 30 * time.Second
	// warmUp is how many submissions each side sees before anything is measured.
	warmUp = 64
)

// setting says what runs in a section's world beside etcd and kube-apiserver.
type setting struct {
	jobs      bool // the Job controller
	admission bool // the webhooks and policies
	idle      bool // whoever measures starts operators
}

// world is everything that is measured, or measured with.
type world struct {
	setting    setting
	options    Options
	progress   io.Writer
	plane      *harness.ControlPlane
	managers   []*harness.Process
	gateway    *harness.Process // nil: no section has started one
	gatewayURL string
	crew       map[string]*operator // operators of which memory is still to be measured, by state
	kubeconfig string
	webhooks   string // where managers serve theirs; empty: nowhere
	pprof      string // where the last manager serves its profiles
	receiver   *receiver
	api        client.WithWatch // a client of the operator's kinds
	bareAPI    client.Client
	clients    *kubernetes.Clientset
	specimen   *specimen
	bareSizes  map[string]float64
	taken      map[string][]byte // profiles are taken into it, by program; nil: none are wanted
	seeded     int64             // bytes of the history that is there

	mu       sync.Mutex
	expected []string // the receiver's keys of all that was submitted
}

// open brings everything up. What it returns must be shut, also on an error.
func open(ctx context.Context, s setting, options Options, progress io.Writer) (w *world, err error) {
	w = &world{setting: s, options: options, progress: progress}
	control := harness.Options{CRDs: true}
	if s.jobs {
		control.Controllers = []string{"job-controller"}
	}
	if w.plane, err = harness.Start(control); err != nil {
		return w, err
	}
	if w.receiver, err = startReceiver(); err != nil {
		return w, err
	}
	if err := w.connect(); err != nil {
		return w, err
	}
	if err := harness.Build(ctx, w.plane.Dir, "", "./cmd/manager"); err != nil {
		return w, err
	}
	if w.kubeconfig, err = w.plane.ManagerKubeconfig(ctx); err != nil {
		return w, err
	}
	if s.admission {
		return w, w.installAdmission(ctx)
	}
	return w, nil
}

func (w *world) connect() (err error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	if w.api, err = client.NewWithWatch(w.plane.Config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if w.bareAPI, err = bareClient(w.plane.Config); err != nil {
		return err
	}
	w.clients, err = kubernetes.NewForConfig(w.plane.Config)
	return err
}

// restart has one operator run that is as installed, and both sides do what they will do. Where the setting is idle, it
// only ends what runs.
func (w *world) restart(ctx context.Context) (err error) {
	w.killManagers()
	if w.setting.idle {
		return nil
	}
	if _, err = w.startManager(ctx); err != nil {
		return err
	}
	if w.setting.admission {
		if err := w.plane.AwaitWebhooks(ctx); err != nil {
			return err
		}
	}
	if w.specimen, err = w.observe(ctx); err != nil {
		return err
	}
	if err := w.weigh(ctx); err != nil {
		return fmt.Errorf("the bare client: %w", err)
	}
	if _, err = w.through(ctx, load{n: warmUp, clients: warmUp}); err != nil {
		return err
	}
	_, err = w.bare(ctx, bareLoad{n: warmUp, clients: warmUp})
	return err
}

// startManager starts an operator with the rights that it is installed with. It returns when it is ready.
func (w *world) startManager(ctx context.Context, flags ...string) (*harness.Process, error) {
	pprof, err := harness.UnusedAddress()
	if err != nil {
		return nil, err
	}
	w.pprof = "http://" + pprof + "/debug/pprof/"
	p, err := harness.Manager{
		Program: filepath.Join(w.plane.Dir, "manager"), Kubeconfig: w.kubeconfig, Log: filepath.Join(w.plane.Dir, "manager.log"),
		Webhooks: w.webhooks, Flags: append([]string{"--sweep-interval=" + sweepInterval.String(), "--pprof-bind-address=" + pprof}, flags...),
	}.Start(ctx)
	if p != nil {
		w.managers = append(w.managers, p)
	}
	return p, err
}

// killManagers ends all operators, and the gateway where there is one, as a crash does.
func (w *world) killManagers() {
	for _, p := range w.managers {
		p.Kill()
	}
	w.managers = nil
	if w.gateway != nil {
		w.gateway.Kill()
		w.gateway = nil
	}
}

// shut ends what runs.
func (w *world) shut() error {
	if w == nil {
		return nil
	}
	var errs []error
	w.killManagers() // nothing is under way, or nobody wants to know
	if w.receiver != nil {
		errs = append(errs, w.receiver.close())
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

// effectFaults compares the effects so far with what was submitted.
func (w *world) effectFaults() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.receiver.compare(w.expected)
}

// until waits for what tells nobody when it is so.
func until(ctx context.Context, what string, condition func(context.Context) (bool, error)) error {
	if err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, condition); err != nil {
		return fmt.Errorf("waiting for %s: %w", strings.TrimSpace(what), err)
	}
	return nil
}
