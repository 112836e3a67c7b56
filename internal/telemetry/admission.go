package telemetry

import (
	"crypto/x509"
)

var (
	// Duplicates counts creates whose key was known already, by the template of the first one and what they found:
	// pending, processing, success, failed, or mismatch for another payload. Creates that race are not seen at admission.
	Duplicates = counter("taskonce_duplicates_total",
		"Creates of submissions whose key was known already, as admission saw them, by what they found: pending, processing, success, failed, "+
			"or mismatch, where the key belongs to another action. Many that find success are clients that retry; many that find processing are "+
			"clients that do not wait, or write at the same time; a mismatch is a fault of a client: look for a client that uses one key for two actions. "+
			"Of creates at the very same moment only the API server knows: apiserver_request_total with resource tasksubmissions and code 409.",
		labelTemplate, "found")

	certificateNotBefore = gauge("taskonce_webhook_certificate_not_before_timestamp_seconds",
		"From when on the certificate that this process serves its webhooks with is valid.")

	certificateNotAfter = gauge("taskonce_webhook_certificate_not_after_timestamp_seconds",
		"Until when the certificate that this process serves its webhooks with is valid. It is renewed long before; where less than a week is left, "+
			"look at the log for what keeps it from being renewed, or at cert-manager where that keeps it.")
)

// ShowCertificate shows the age and the end of the certificate that webhooks are served with from now on.
func ShowCertificate(leaf *x509.Certificate) {
	certificateNotBefore.Set(float64(leaf.NotBefore.Unix()))
	certificateNotAfter.Set(float64(leaf.NotAfter.Unix()))
}
