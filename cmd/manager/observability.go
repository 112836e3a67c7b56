package main

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/taskonce/taskonce/internal/controller"
	"github.com/taskonce/taskonce/internal/telemetry"
)

// metrics is how metrics are served.
func (o *options) metrics() metricsserver.Options {
	served := metricsserver.Options{
		BindAddress: string(o.metricsAddress), SecureServing: true,
		// Exemplars are part of this format only.
		HandlerOpts: []func(*promhttp.HandlerOpts){func(o *promhttp.HandlerOpts) { o.EnableOpenMetrics = true }},
	}
	if o.metricsAuthentication == delegated {
		served.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return served
}

// observers are told of what the operator writes. The audit log comes first: it must not miss what the others show.
func (o *options) observers(mgr ctrl.Manager) (telemetry.Observers, *telemetry.Events) {
	var all telemetry.Observers
	if o.audit != nil {
		all = append(all, o.audit)
	}
	events := telemetry.NewEvents(mgr.GetEventRecorder("taskonce"))
	return append(all, telemetry.Metrics{}, events), events
}

// setupMetrics has what is computed at each scrape computed from now on.
func setupMetrics(mgr ctrl.Manager, submissions *controller.Submissions, options *options) error {
	return errors.Join(
		metrics.Registry.Register(&telemetry.Standing{
			Cache: mgr.GetCache(), Usage: submissions.Usage, Left: submissions.WithoutSubmission, MaxInFlight: options.maxInFlight, Clock: clock.RealClock{}, Leads: mgr.Elected(),
		}),
		controller.FollowTemplates(context.Background(), mgr.GetCache(), submissions.Plans),
	)
}
