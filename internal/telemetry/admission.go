// Package telemetry holds the metrics. Labels are bounded: never a key, and never a name that a submitter chose.
package telemetry

import (
	"crypto/x509"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	// Duplicates counts creates whose key was known already, by the template of the first one and what they found:
	// pending, processing, success, failed, or mismatch for another payload. Creates that race are not seen at admission.
	Duplicates = promauto.With(metrics.Registry).NewCounterVec(prometheus.CounterOpts{
		Name: "taskonce_duplicates_total",
		Help: "Creates of submissions whose key was known already, as seen at admission: what they found.",
	}, []string{"template", "found"})

	certificateNotBefore = promauto.With(metrics.Registry).NewGauge(prometheus.GaugeOpts{
		Name: "taskonce_webhook_certificate_not_before_timestamp_seconds",
		Help: "From when on the certificate that this process serves its webhooks with is valid.",
	})

	certificateNotAfter = promauto.With(metrics.Registry).NewGauge(prometheus.GaugeOpts{
		Name: "taskonce_webhook_certificate_not_after_timestamp_seconds",
		Help: "Until when the certificate that this process serves its webhooks with is valid.",
	})
)

// UnknownTemplate is the label of templates that do not exist: submitters could invent any number of names.
const UnknownTemplate = "unknown"

// ShowCertificate shows the age and the end of the certificate that webhooks are served with from now on.
func ShowCertificate(leaf *x509.Certificate) {
	certificateNotBefore.Set(float64(leaf.NotBefore.Unix()))
	certificateNotAfter.Set(float64(leaf.NotAfter.Unix()))
}
