// Command gateway serves submissions over HTTP, for applications that do not speak to the Kubernetes API.
package main

import (
	"context"
	"net/http"
	"time"
	_ "time/tzdata" // the image has no time zones, and expressions and data sources name some

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/taskonce/taskonce/internal/gateway"
	"github.com/taskonce/taskonce/internal/setting"
	"github.com/taskonce/taskonce/internal/telemetry/tracing"
	"github.com/taskonce/taskonce/pkg/submit"
)

// version is set when a release is built.
var version = "development"

func main() { setting.Main("gateway", version, parse, run) }

// run serves until ctx ends and what was asked for is answered, or returns what went wrong.
func run(ctx context.Context, config *rest.Config, options *options) error {
	config.WarningHandlerWithContext = rest.NoWarnings{} // each duplicate has one, which says nothing of whose it is
	config.QPS = -1                                      // the API server's own priority and fairness is the limit
	tracer, err := tracing.FromEnvironment(ctx, "taskonce-gateway", version)
	if err != nil {
		return err
	}
	defer tracer.Flush(ctx)
	front, err := newGateway(ctx, config, options, tracer)
	if err != nil {
		return err
	}
	serving, ctx := errgroup.WithContext(ctx)
	serving.Go(func() error {
		return serveAt(ctx, "interface", string(options.address), options.certDir, front.Handler(), options.gracePeriod)
	})
	serving.Go(func() error { return servePage(ctx, config, options) })
	serving.Go(func() error { return serveProbes(ctx, options.probeAddress) })
	serving.Go(func() error { return serveMetrics(ctx, config, options) })
	logf.Log.Info("starting", "version", version, "mode", options.mode(), "tracing", tracer != nil)
	return serving.Wait()
}

func newGateway(ctx context.Context, config *rest.Config, options *options, tracer *tracing.Tracer) (*gateway.Gateway, error) {
	var callers gateway.Authenticator = gateway.PassThrough{}
	if options.issuer.URL == "" {
		config = gateway.PassingThrough(config)
	} else {
		verifying, err := gateway.NewOIDC(ctx, options.issuer)
		if err != nil {
			return nil, err
		}
		callers = verifying
	}
	client, err := submit.Connect(config)
	if err != nil {
		return nil, err
	}
	client.RequestTimeout = options.patience
	return &gateway.Gateway{
		Client: client, Callers: callers, DefaultWait: options.defaultWait, MaxWait: options.maxWait, Patience: options.patience,
		MaxBody: options.maxBody, Rate: options.rate(), Burst: options.burst, Origins: options.origins, TrustedProxies: options.trustedProxies, Heartbeat: heartbeat,
		Streams: maxStreams, StreamLife: streamLife, WaitingBytes: maxWaiting, AllWaitingBytes: 4 * maxWaiting,
		Tracer: tracer, Version: version, Stopping: ctx.Done(),
	}, nil
}

// heartbeat is shorter than what proxies let a silent connection live, and than what clients take for a dead one.
const heartbeat = 15 * time.Second

// A caller holds maxStreams connections for events at most, and each ends after streamLife: its reader takes it up again.
const (
	maxStreams = 20
	streamLife = time.Hour
)

// maxWaiting is how many bytes of a caller's requests wait for an outcome at most: what is beyond is answered at once. About twice
// as much is held, of all callers four times that, beside which the memory that the manifests grant has room.
const maxWaiting = 8 << 20

func serveMetrics(ctx context.Context, config *rest.Config, options *options) error {
	if options.metricsAddress == setting.Off {
		return nil
	}
	serving := metricsserver.Options{BindAddress: string(options.metricsAddress), SecureServing: true}
	if options.metricsAuthentication == delegated {
		serving.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	server, err := metricsserver.NewServer(serving, config, client)
	if err != nil {
		return err
	}
	return server.Start(ctx)
}

func serveProbes(ctx context.Context, address setting.Address) error {
	if address == setting.Off {
		return nil
	}
	mux := http.NewServeMux()
	for _, path := range []string{"/healthz", "/readyz"} {
		mux.HandleFunc(path, func(http.ResponseWriter, *http.Request) {})
	}
	server := &http.Server{Addr: string(address), Handler: mux, ReadHeaderTimeout: readHeaderTimeout}
	return serve(ctx, server, server.ListenAndServe, 0)
}
