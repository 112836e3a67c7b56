package httpcall

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a := &authority{key: newKey(t)}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.certificate, err = x509.ParseCertificate(raw); err != nil {
		t.Fatal(err)
	}
	a.pem = armoured("CERTIFICATE", raw)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func armoured(kind string, raw []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}))
}

// signs returns a certificate for 127.0.0.1 and its key, valid from an hour ago until then.
func (a *authority) signs(t *testing.T, until time.Duration, changes ...func(*x509.Certificate)) (chain, key string) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "leaf"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(until),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, change := range changes {
		change(template)
	}
	own := newKey(t)
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, own.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	return armoured("CERTIFICATE", raw), armoured("PRIVATE KEY", encoded)
}

// overTLS is a receiver with a certificate of the authority.
func overTLS(t *testing.T, a *authority, change func(*tls.Config)) (url string, r *receiver) {
	t.Helper()
	certificate, err := tls.X509KeyPair(pair(a.signs(t, time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, ClientCAs: x509.NewCertPool()}
	config.ClientCAs.AddCert(a.certificate)
	change(config)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	return "https://" + listener.Addr().String(), serve(t, listener, says(200, `{"ok":true}`))
}

func pair(chain, key string) ([]byte, []byte) { return []byte(chain), []byte(key) }

func plainTLS(*tls.Config) {}

func mutual(version uint16) func(*tls.Config) {
	return func(config *tls.Config) {
		config.ClientAuth, config.MaxVersion = tls.RequireAndVerifyClientCert, version
	}
}

func trusting(name, key string) func(*v1alpha1.TaskTemplateSpec) {
	return func(spec *v1alpha1.TaskTemplateSpec) {
		*tlsOf(spec) = v1alpha1.HTTPTLS{CA: from(name, key), ClientCertificate: tlsOf(spec).ClientCertificate}
	}
}

func showing(name string) func(*v1alpha1.TaskTemplateSpec) {
	return func(spec *v1alpha1.TaskTemplateSpec) {
		tlsOf(spec).ClientCertificate = &v1alpha1.SecretSource{SecretRef: v1alpha1.SecretRef{Name: name}}
	}
}

func tlsOf(spec *v1alpha1.TaskTemplateSpec) *v1alpha1.HTTPTLS {
	if spec.Effect.HTTP.TLS == nil {
		spec.Effect.HTTP.TLS = &v1alpha1.HTTPTLS{}
	}
	return spec.Effect.HTTP.TLS
}

func from(name, key string) *v1alpha1.ValueSource {
	return &v1alpha1.ValueSource{SecretKeyRef: v1alpha1.SecretKeyRef{Name: name, Key: key}}
}

func TestTrustedCertificates(t *testing.T) {
	own, other := newAuthority(t), newAuthority(t)
	url, r := overTLS(t, own, plainTLS)
	options := local()
	options.Secret = secretsOf(map[string]string{"own/ca.crt": own.pem, "other/ca.crt": other.pem, "both/ca.crt": other.pem + own.pem})
	for _, c := range []struct {
		name   string
		change func(*v1alpha1.TaskTemplateSpec)
		want   v1alpha1.Outcome
	}{
		{"the system's only", unchanged, notApplied},
		{"another's", trusting("other", "ca.crt"), notApplied},
		{"its own", trusting("own", "ca.crt"), applied},
		{"a bundle", trusting("both", "ca.crt"), applied},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := r.count()
			outcome := executed(t, options, post(url, c.change))
			if outcome.Kind != c.want || (outcome.Kind == notApplied) != (r.count() == before) {
				t.Errorf("got %+v after %d requests", outcome, r.count()-before)
			}
			if outcome.Kind == notApplied && (!strings.Contains(outcome.Message, "spec.effect.http.tls.ca") || !strings.Contains(outcome.Message, "nothing was sent")) {
				t.Errorf("the message %q says neither what to set nor that nothing was sent", outcome.Message)
			}
		})
	}
}

func TestTheVerificationHasATrustOfItsOwn(t *testing.T) {
	own := newAuthority(t)
	url, r := overTLS(t, own, plainTLS)
	options := local()
	options.Secret = secretsOf(map[string]string{"own/ca.crt": own.pem})
	spec := post(url, verifiedAt(url, usual...))
	outcome, err := compiled(t, options, spec).Verify(t.Context(), effecttest.NewAttempt(1))
	if err != nil || outcome.Kind != unknown || !strings.Contains(outcome.Message, "spec.verification.http.tls.ca") {
		t.Errorf("got %+v and %v", outcome, err)
	}
	spec.Verification.HTTP.TLS = &v1alpha1.HTTPTLS{CA: from("own", "ca.crt")}
	if outcome, err = compiled(t, options, spec).Verify(t.Context(), effecttest.NewAttempt(1)); err != nil || outcome.Kind != unknown || r.count() != 1 {
		t.Errorf("got %+v and %v after %d requests", outcome, err, r.count())
	}
	attempt := effecttest.NewAttempt(1)
	attempt.Location = url + "/jobs/7"
	if outcome, err = compiled(t, options, post(url, trusting("own", "ca.crt"))).Poll(t.Context(), attempt); err != nil || outcome.Kind != applied {
		t.Errorf("a poll goes as the effect does: got %+v and %v", outcome, err)
	}
}

func TestClientCertificates(t *testing.T) {
	own, other := newAuthority(t), newAuthority(t)
	secrets := map[string]string{"own/ca.crt": own.pem}
	for name, a := range map[string]*authority{"fits": own, "strange": other} {
		secrets[name+"/tls.crt"], secrets[name+"/tls.key"] = a.signs(t, time.Hour)
	}
	options := local()
	options.Secret = secretsOf(secrets)
	for _, c := range []struct {
		name, reason, message string
		version               uint16
		change                func(*v1alpha1.TaskTemplateSpec)
		want                  v1alpha1.Outcome
	}{
		{"shown", "", "200 OK", tls.VersionTLS13, showing("fits"), applied},
		{"shown, by the older way", "", "200 OK", tls.VersionTLS12, showing("fits"), applied},
		{"a stranger's, by the older way", "it is said in the handshake", `handshake with the receiver failed: it said "tls: `, tls.VersionTLS12, showing("strange"), notApplied},
		{"none, by the older way", "it is said in the handshake", `handshake with the receiver failed: it said "tls: `, tls.VersionTLS12, unchanged, notApplied},
		{"a stranger's", "it is said while the request is being sent", "", tls.VersionTLS13, showing("strange"), ""},
		{"none", "it is said while the request is being sent", "", tls.VersionTLS13, unchanged, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, r := overTLS(t, own, mutual(c.version))
			outcome := executed(t, options, post(url, trusting("own", "ca.crt"), c.change))
			certain := outcome.Kind == c.want || (c.want == "" && (outcome.Kind == unknown || outcome.Kind == notApplied))
			if !certain || outcome.Permanent || !strings.Contains(outcome.Message, c.message) || (r.count() == 1) != (c.want == applied) {
				t.Errorf("%s: got %+v after %d requests, want %s with %q", c.reason, outcome, r.count(), c.want, c.message)
			}
		})
	}
}

// What is certain before anything is sent is waited for, and sends nothing.
func TestTLSThatCannotBeUsedIsWaitedFor(t *testing.T) {
	own := newAuthority(t)
	secrets := map[string]string{"own/ca.crt": own.pem, "text/ca.crt": "no certificate"}
	for name, until := range map[string]time.Duration{"fits": time.Hour, "expired": -time.Minute} {
		secrets[name+"/tls.crt"], secrets[name+"/tls.key"] = own.signs(t, until)
	}
	secrets["early/tls.crt"], secrets["early/tls.key"] = own.signs(t, 2*time.Hour, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) })
	secrets["crossed/tls.crt"], secrets["crossed/tls.key"] = secrets["fits/tls.crt"], secrets["expired/tls.key"]
	secrets["half/tls.crt"] = secrets["fits/tls.crt"]
	options := local()
	options.Secret = secretsOf(secrets)
	url, r := overTLS(t, own, mutual(tls.VersionTLS13))
	for _, c := range []struct {
		name, message string
		change        func(*v1alpha1.TaskTemplateSpec)
	}{
		{"the CA's Secret is missing", `the Secret "nobody" has no key "ca.crt"`, trusting("nobody", "ca.crt")},
		{"no certificate", `the key "ca.crt" of the Secret "text" holds no certificate in PEM`, trusting("text", "ca.crt")},
		{"the certificate is missing", `the Secret "nobody" has no key "tls.crt"`, showing("nobody")},
		{"the key is missing", `the Secret "half" has no key "tls.key"`, showing("half")},
		{"a key of another one", `tls.crt and tls.key of the Secret "crossed"`, showing("crossed")},
		{"expired", `the client certificate in the Secret "expired" has expired: renew it`, showing("expired")},
		{"not valid yet", `the client certificate in the Secret "early" is not valid yet`, showing("early")},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := compiled(t, options, post(url, c.change)).Execute(t.Context(), effecttest.NewAttempt(1))
			var missing *effect.DependencyError
			if !errors.As(err, &missing) || !strings.Contains(err.Error(), c.message) || strings.Contains(err.Error(), "PRIVATE KEY") || r.count() != 0 {
				t.Errorf("got %v after %d requests, want %q", err, r.count(), c.message)
			}
		})
	}
}
