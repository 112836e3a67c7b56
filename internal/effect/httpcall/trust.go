package httpcall

import (
	"context"
	"crypto/tls"
	"crypto/x509"

	corev1 "k8s.io/api/core/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// trust is what a template says of TLS: whose certificates it trusts, and the Secret with its own.
type trust struct {
	ca          *v1alpha1.SecretKeyRef
	certificate string
}

// config returns the configuration with what the Secrets hold now; nil: Go's own. What cannot be used is waited for,
// as a Secret that is missing: with TLS 1.3 a receiver says that it wants another certificate only after the request was
// sent, so what is certain is found out before.
func (t *trust) config(ctx context.Context, c *client, namespace string) (*tls.Config, error) {
	config := c.tls.Clone()
	if t.ca == nil && t.certificate == "" {
		return config, nil
	}
	if config == nil {
		config = &tls.Config{}
	}
	if t.ca != nil {
		bundle, err := c.read(ctx, namespace, t.ca)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(bundle)) {
			return nil, effect.Missing("the key %q of the Secret %q holds no certificate in PEM", t.ca.Key, t.ca.Name)
		}
	}
	if t.certificate != "" {
		certificate, err := t.own(ctx, c, namespace)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{certificate}
	}
	return config, nil
}

// own reads the client certificate.
func (t *trust) own(ctx context.Context, c *client, namespace string) (tls.Certificate, error) {
	chain, err := c.read(ctx, namespace, &v1alpha1.SecretKeyRef{Name: t.certificate, Key: corev1.TLSCertKey})
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := c.read(ctx, namespace, &v1alpha1.SecretKeyRef{Name: t.certificate, Key: corev1.TLSPrivateKeyKey})
	if err != nil {
		return tls.Certificate{}, err
	}
	certificate, err := tls.X509KeyPair([]byte(chain), []byte(key))
	if err != nil {
		return tls.Certificate{}, effect.Missing("%s and %s of the Secret %q are no certificate with its key, in PEM: %v", corev1.TLSCertKey, corev1.TLSPrivateKeyKey, t.certificate, err)
	}
	switch now := c.now(); {
	case now.After(certificate.Leaf.NotAfter):
		return tls.Certificate{}, effect.Missing("the client certificate in the Secret %q has expired: renew it", t.certificate)
	case now.Before(certificate.Leaf.NotBefore):
		return tls.Certificate{}, effect.Missing("the client certificate in the Secret %q is not valid yet", t.certificate)
	}
	return certificate, nil
}
