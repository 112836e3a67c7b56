// Command manager is the taskonce operator: it carries out TaskSubmissions, each exactly once.
package main

import (
	"context"
	"errors"
	"net/http"
	"os/signal"
	"syscall"
	"time"
	_ "time/tzdata" // the image has no time zones, and expressions and data sources name some

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/controller"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/httpcall"
	"github.com/taskonce/taskonce/internal/effect/job"
	"github.com/taskonce/taskonce/internal/effect/sqltx"
	"github.com/taskonce/taskonce/internal/record"
	"github.com/taskonce/taskonce/internal/setting"
	"github.com/taskonce/taskonce/internal/telemetry/tracing"
	"github.com/taskonce/taskonce/internal/terse"
)

// version is set when a release is built.
var version = "development"

func main() {
	signal.Ignore(syscall.SIGPIPE) // else a reader of the audit log that goes away takes the operator along
	setting.Main("manager", version, parse, run)
}

// run starts the operator and returns when ctx ends and everything that ran is stored, or with what went wrong.
func run(ctx context.Context, config *rest.Config, options *options) error {
	config.QPS = -1 // the API server's own priority and fairness is the limit
	scheme := newScheme()
	check := func(ctx context.Context) error {
		return controller.CheckInstallation(ctx, config, scheme, options.namespaces, options.rights()...)
	}
	if err := whenNotOverloaded(ctx, time.Second, check); err != nil || options.checkOnly {
		return byWayOf(http.ProxyFromEnvironment, config, err)
	}
	mgr, err := newManager(config, scheme, options)
	if err != nil {
		return err
	}
	tracer, err := tracing.FromEnvironment(ctx, "taskonce", version)
	if err != nil {
		return err
	}
	if err := setup(mgr, options, tracer); err != nil {
		return err
	}
	logf.Log.Info("starting", "version", version, "maxInFlight", options.maxInFlight, "workers", options.workers, "leaderElection", options.leaderElect, "tracing", tracer != nil)
	defer tracer.Flush(ctx)
	return mgr.Start(ctx)
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}

func newManager(config *rest.Config, scheme *runtime.Scheme, options *options) (ctrl.Manager, error) {
	shutdown := options.gracePeriod + shutdownMargin
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         controller.CacheOptions(options.namespaces),
		Client:                        controller.ClientOptions(),
		NewClient:                     terse.NewClient,
		Metrics:                       options.metrics(),
		HealthProbeBindAddress:        string(options.probeAddress),
		PprofBindAddress:              string(options.pprofAddress),
		LeaderElection:                options.leaderElect,
		LeaderElectionID:              options.leaderElectionName,
		LeaderElectionNamespace:       options.leaderElectionNamespace,
		LeaseDuration:                 &options.leaseDuration,
		RenewDeadline:                 &options.renewDeadline,
		RetryPeriod:                   &options.retryPeriod,
		LeaderElectionReleaseOnCancel: true, // the process ends when the manager has stopped
		GracefulShutdownTimeout:       &shutdown,
	})
	if err != nil {
		return nil, err
	}
	return mgr, addProbes(mgr)
}

// setup wires the reconcilers and the webhooks. It is the only place that knows concrete effects.
func setup(mgr ctrl.Manager, options *options, tracer *tracing.Tracer) error {
	httpOptions := httpcall.Options{
		Secret: secretReader(mgr.GetClient()), MaxResponseBytes: options.maxResponseBytes,
		AllowLoopback: options.allowLoopback, AllowLinkLocal: options.allowLinkLocal,
	}
	off := faults(&httpOptions)
	jobOptions := job.Options{Client: mgr.GetClient(), Cache: mgr.GetCache()}
	compilers := effect.Compilers{
		HTTP: httpcall.New(httpOptions),
		SQL:  sqltx.New(sqltx.Options{Secret: httpOptions.Secret, MaxConnections: options.maxSQLConnections}).Compile,
		Job:  job.New(jobOptions),
	}
	observers, events := options.observers(mgr)
	plans := controller.NewPlans(compilers)
	receivers := controller.NewReceivers(clock.RealClock{})
	submissions := &controller.Submissions{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Records: &record.Store{Client: mgr.GetClient()},
		Plans: plans, Receivers: receivers, Executor: string(uuid.NewUUID()), Scope: options.scope, Clock: clock.RealClock{}, Off: off, Tracer: tracer,
		Observer: observers,
	}
	submissions.Init(options.maxInFlight)
	return errors.Join(
		setupMetrics(mgr, submissions, options),
		serveCensus(submissions),
		submissions.SetupWithManager(mgr, options.workers, options.gracePeriod),
		(&controller.Templates{Client: mgr.GetClient(), Plans: plans, Receivers: receivers, Events: events}).SetupWithManager(mgr),
		mgr.Add(&controller.DueLoop{Submissions: submissions, Namespaces: options.namespaces, Interval: options.sweepInterval, PerSecond: options.sweepRate}),
		setupWebhooks(mgr, options, plans, compilers, tracer),
	)
}
