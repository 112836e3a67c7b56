package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"path/filepath"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/taskonce/taskonce/internal/admission"
	"github.com/taskonce/taskonce/internal/admission/certificate"
	"github.com/taskonce/taskonce/internal/controller"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/record"
	"github.com/taskonce/taskonce/internal/setting"
	"github.com/taskonce/taskonce/internal/telemetry"
	"github.com/taskonce/taskonce/internal/telemetry/tracing"
)

// setupWebhooks serves the webhooks, on every replica.
func setupWebhooks(mgr ctrl.Manager, options *options, plans *controller.Plans, compilers effect.Compilers, tracer *tracing.Tracer) error {
	if options.webhookAddress == setting.Off {
		return nil
	}
	certificates, err := certificateSource(mgr, options)
	if err != nil {
		return err
	}
	host, port, err := options.webhookAddress.HostPort()
	if err != nil {
		return err
	}
	server := webhook.NewServer(webhook.Options{Host: host, Port: port, TLSOpts: []func(*tls.Config){
		func(config *tls.Config) { config.GetCertificate = certificates },
	}})
	reader, live := mgr.GetClient(), mgr.GetAPIReader()
	admission.Register(server,
		&admission.Submissions{Cache: reader, Live: live, Records: &record.Store{Client: mgr.GetClient()}, Plans: plans, Tracer: tracer, Clock: clock.RealClock{}, Recent: admission.NewRecent(clock.RealClock{})},
		&admission.Decisions{Cache: reader, Live: live, Plans: plans},
		&admission.Templates{Compilers: compilers, Reviewer: mgr.GetClient()},
	)
	return errors.Join(mgr.Add(server), mgr.AddReadyzCheck("webhook", server.StartedChecker()))
}

type getCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// certificateSource returns what answers handshakes: certificates that the operator keeps itself, or files that somebody
// else keeps, such as cert-manager. Either is renewed without a restart.
func certificateSource(mgr ctrl.Manager, options *options) (getCertificate, error) {
	if options.webhookCertDir != "" {
		return watchedFiles(mgr, options.webhookCertDir)
	}
	// Its objects are few and looked at once a minute: a cache would have to watch all of them.
	uncached, err := client.New(mgr.GetConfig(), client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return nil, err
	}
	keeper := &certificate.Keeper{
		Client: uncached, Secret: types.NamespacedName{Namespace: options.webhookNamespace, Name: options.webhookSecret},
		Host: options.webhookService + "." + options.webhookNamespace + ".svc", Configurations: options.webhookConfigurations,
		Lifetime: certificate.Lifetime, Clock: clock.RealClock{},
	}
	return keeper.GetCertificate, mgr.Add(keeper)
}

func watchedFiles(mgr ctrl.Manager, dir string) (getCertificate, error) {
	watcher, err := certwatcher.New(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("--webhook-cert-dir: %w", err)
	}
	watcher.RegisterCallback(func(serving tls.Certificate) {
		if serving.Leaf != nil {
			telemetry.ShowCertificate(serving.Leaf)
		}
	})
	return watcher.GetCertificate, mgr.Add(watcher)
}
