// Package certificate makes the certificate that webhooks are served with, renews it before it expires, and tells the
// API server whom to trust. Every replica does the same; they meet in one Secret, by compare-and-swap. Nothing is
// mounted and nothing restarts.
package certificate

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/cert"
)

// caKey is where the Secret holds the authorities to be trusted: the newest first, and earlier ones while they are
// valid, so that a replica which still serves the last certificate is trusted, too.
const caKey = corev1.ServiceAccountRootCAKey

// material is what the Secret holds, parsed.
type material struct {
	serving     *tls.Certificate
	authorities []byte
}

// newMaterial makes a certificate for a host, with an authority of its own whose key is thrown away.
func newMaterial(host string, lifetime time.Duration, now time.Time, trusted []byte) (map[string][]byte, error) {
	chain, key, err := cert.GenerateSelfSignedCertKeyWithOptions(cert.SelfSignedCertKeyOptions{Host: host, MaxAge: lifetime})
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	_, authority := pem.Decode(chain) // the certificate itself comes first
	return map[string][]byte{
		corev1.TLSCertKey: chain, corev1.TLSPrivateKeyKey: key, caKey: append(authority, stillValid(trusted, now)...),
	}, nil
}

// stillValid keeps the authorities that have not expired.
func stillValid(authorities []byte, now time.Time) []byte {
	var kept bytes.Buffer
	for block, rest := pem.Decode(authorities); block != nil; block, rest = pem.Decode(rest) {
		if parsed, err := x509.ParseCertificate(block.Bytes); err == nil && now.Before(parsed.NotAfter) {
			_ = pem.Encode(&kept, block) // a buffer takes everything
		}
	}
	return kept.Bytes()
}

// parse reads what a Secret holds. An error says why it cannot be served for the host, or not much longer.
func parse(data map[string][]byte, host string, now time.Time) (*material, error) {
	serving, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data[caKey]) {
		return nil, errors.New("it names no authority")
	}
	if _, err := serving.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, CurrentTime: now}); err != nil {
		return nil, err
	}
	if due := renewAt(serving.Leaf); !now.Before(due) {
		return nil, fmt.Errorf("it is to be renewed since %s", due.Format(time.RFC3339))
	}
	return &material{serving: &serving, authorities: data[caKey]}, nil
}

// renewAt leaves a third of its life to whatever keeps a certificate from being renewed.
func renewAt(leaf *x509.Certificate) time.Time {
	return leaf.NotAfter.Add(-leaf.NotAfter.Sub(leaf.NotBefore) / 3)
}
