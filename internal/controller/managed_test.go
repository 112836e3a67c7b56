package controller_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/controller"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/internal/effect/job"
	"github.com/taskonce/taskonce/internal/record"
	"github.com/taskonce/taskonce/internal/telemetry"
)

// managed is a world whose operator runs by itself: a manager with the cache, the work queue and the clock that it
// has in a cluster, but for one namespace.
type managed struct {
	*world
	ticks   clock.Clock
	wire    *wire
	compile effect.Compiler
	started int
	stop    func()
}

// wire counts what a manager sends to the API server.
type wire struct {
	mu       sync.Mutex
	requests []string
}

func (w *wire) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	requests := w.requests
	w.requests = nil
	return requests
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// through notes requests about the kinds of taskonce, such as "PUT tasksubmissions/a/status". Watches are not counted.
func (w *wire) through(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		_, path, ours := strings.Cut(request.URL.Path, "/apis/"+v1alpha1.GroupVersion.String()+"/")
		if ours && request.URL.Query().Get("watch") == "" {
			parts := strings.Split(path, "/")
			w.mu.Lock()
			w.requests = append(w.requests, request.Method+" "+strings.Join(parts[min(2, len(parts)-1):], "/"))
			w.mu.Unlock()
		}
		return next.RoundTrip(request)
	})
}

// newManaged starts a manager. It runs effects of the fake, or of the compiler that is given.
func newManaged(compilers ...effect.Compiler) *managed {
	GinkgoHelper()
	return newManagedAt(clock.RealClock{}, compilers...)
}

// newManagedAt starts one with a clock of its own. While that stands still nothing takes long, however slow the machine is.
func newManagedAt(ticks clock.Clock, compilers ...effect.Compiler) *managed {
	GinkgoHelper()
	namespace, err := plane.Namespace(ctx)
	Expect(err).NotTo(HaveOccurred())
	w := &managed{world: &world{namespace: namespace, fake: effecttest.New(), faults: &faults{}}, ticks: ticks, wire: &wire{}}
	w.fake.SetClock(ticks.Now)
	// An effect that a spec holds goes on until it lets it, however slow the machine is.
	w.fake.SetTraits(effect.Traits{Timeout: 10 * time.Minute, Verifies: true, VerifyTimeout: 10 * time.Minute})
	w.compile = w.fake.Compiler()
	if len(compilers) > 0 {
		w.compile = compilers[0]
	}
	w.start()
	DeferCleanup(w.checkManaged)
	return w
}

// restart has the operator end in order, and another process take its place.
func (w *managed) restart() {
	GinkgoHelper()
	w.stop()
	w.start()
}

func (w *managed) start() {
	GinkgoHelper()
	w.started++
	mgr := w.manager()
	events := telemetry.NewEvents(mgr.GetEventRecorder("taskonce"))
	op := &controller.Submissions{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Records: &record.Store{Client: mgr.GetClient()},
		Plans: controller.NewPlans(effect.Compilers{
			HTTP: w.compile, Job: job.New(job.Options{Client: mgr.GetClient(), Cache: mgr.GetCache()}),
		}),
		Receivers: controller.NewReceivers(w.ticks),
		Executor:  fmt.Sprintf("managed-%s-%d", w.namespace, w.started), Clock: w.ticks,
		Observer: telemetry.Observers{telemetry.Metrics{}, &w.account, events},
	}
	op.Init(100)
	Expect(op.SetupWithManager(mgr, 4, 10*time.Second)).To(Succeed())
	Expect((&controller.Templates{Client: mgr.GetClient(), Plans: op.Plans, Receivers: op.Receivers, Events: events}).SetupWithManager(mgr)).To(Succeed())
	Expect(mgr.Add(&controller.DueLoop{Submissions: op, Interval: time.Second})).To(Succeed())

	running, cancel := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(running) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		Eventually(stopped).Should(Receive(BeNil()))
	})
	Expect(mgr.GetCache().WaitForCacheSync(ctx)).To(BeTrue())
}

func (w *managed) manager() ctrl.Manager {
	GinkgoHelper()
	wired := rest.CopyConfig(managerConfig)
	wired.Wrap(w.wire.through)
	caches := controller.CacheOptions(nil)
	caches.DefaultNamespaces = map[string]cache.Config{w.namespace: {}}
	mgr, err := ctrl.NewManager(wired, ctrl.Options{
		Scheme: scheme, Cache: caches, Client: controller.ClientOptions(),
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		NewClient: func(config *rest.Config, options client.Options) (client.Client, error) {
			inner, err := newWatching(config, options)
			return w.faults.intercepted(inner, w.namespace, w.checkWrite, w.account.landed), err
		},
	})
	Expect(err).NotTo(HaveOccurred())
	return mgr
}

// checkManaged stops the manager and looks at what it left.
func (w *managed) checkManaged() {
	w.stop()
	list := &v1alpha1.TaskSubmissionList{}
	Expect(admin.List(ctx, list, client.InNamespace(w.namespace))).To(Succeed())
	for i := range list.Items {
		if list.Items[i].Status.ObservedGeneration >= 0 {
			checkStatus(&list.Items[i])
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	Expect(w.violations).To(BeEmpty())
	Expect(w.account.faults()).To(BeEmpty(), "each write of a record is told once")
	Expect(w.account.auditFaults()).To(BeEmpty(), "the audit log")
}

// eventually waits until a submission stands as it should.
func (w *managed) eventually(name string, phase v1alpha1.Phase, reason v1alpha1.Reason) {
	GinkgoHelper()
	Eventually(func() string {
		status := w.status(name)
		return string(status.Phase) + "/" + string(status.Reason)
	}).Should(Equal(string(phase) + "/" + string(reason)))
}

// seen waits until the operator has said of a template whether it can be used.
func (w *managed) seen(name string) {
	GinkgoHelper()
	template := &v1alpha1.TaskTemplate{}
	Eventually(func() int64 {
		Expect(admin.Get(ctx, w.named(name), template)).To(Succeed())
		return template.Status.ObservedGeneration
	}).Should(Equal(int64(1)))
}

// settled waits until nothing was sent for a while, and returns what was sent since it was asked last.
func (w *managed) settled() []string {
	GinkgoHelper()
	var all []string
	sweeps := []string{"GET taskrecords", "GET tasksubmissions", "GET taskdecisions"} // the due loop's own
	Eventually(func() int {
		before := len(all)
		for _, request := range w.wire.take() {
			if !slices.Contains(sweeps, request) {
				all = append(all, request)
			}
		}
		return len(all) - before
	}).WithPolling(300 * time.Millisecond).MustPassRepeatedly(2).Should(BeZero())
	return all
}
