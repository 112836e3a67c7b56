package httpcall

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
)

func TestFaultsNameTheirField(t *testing.T) {
	value := "x"
	for _, c := range []struct {
		name, field string
		change      func(*v1alpha1.TaskTemplateSpec)
	}{
		{"no HTTP effect", "spec.effect.http", func(s *v1alpha1.TaskTemplateSpec) { s.Effect.HTTP = nil }},
		{"no URL", "spec.effect.http.url", func(s *v1alpha1.TaskTemplateSpec) { s.Effect.HTTP.URL = "" }},
		{"URL", "spec.effect.http.url", func(s *v1alpha1.TaskTemplateSpec) { s.Effect.HTTP.URL = "http://a/${params." }},
		{"the attempt in the URL", "spec.effect.http.url", func(s *v1alpha1.TaskTemplateSpec) { s.Effect.HTTP.URL = "http://a/${attempt}" }},
		{"an expression in the host", "spec.effect.http.url", func(s *v1alpha1.TaskTemplateSpec) { s.Effect.HTTP.URL = "http://${params.host}/" }},
		{"method", "spec.effect.http.method", method("TRACE")},
		{"header value", "spec.effect.http.headers[0].value", valueHeader("X-A", "${nonsense}")},
		{"second header", "spec.effect.http.headers[1].value", func(s *v1alpha1.TaskTemplateSpec) {
			valueHeader("X-A", "fine")(s)
			valueHeader("X-B", "${response.status}")(s)
		}},
		{"reserved header", "spec.effect.http.headers[0].name", valueHeader("IDEMPOTENCY-KEY", "mine")},
		{"no name of a header", "spec.effect.http.headers[0].name", valueHeader("X A", "x")},
		{"the same header twice", "spec.effect.http.headers[1].name", func(s *v1alpha1.TaskTemplateSpec) {
			valueHeader("X-A", "1")(s)
			valueHeader("x-a", "2")(s)
		}},
		{"header without a value", "spec.effect.http.headers[0]", func(s *v1alpha1.TaskTemplateSpec) {
			s.Effect.HTTP.Headers = []v1alpha1.HTTPHeader{{Name: "X-A"}}
		}},
		{"header with two values", "spec.effect.http.headers[0]", func(s *v1alpha1.TaskTemplateSpec) {
			s.Effect.HTTP.Headers = []v1alpha1.HTTPHeader{{Name: "X-A", Value: &value, ValueFrom: &v1alpha1.ValueSource{}}}
		}},
		{"Secret without a name", "spec.effect.http.headers[0].valueFrom.secretKeyRef", secretHeader("X-A", "", "key")},
		{"auth of no kind", "spec.effect.http.auth", func(s *v1alpha1.TaskTemplateSpec) { s.Effect.HTTP.Auth = &v1alpha1.HTTPAuth{} }},
		{"auth of two kinds", "spec.effect.http.auth", func(s *v1alpha1.TaskTemplateSpec) {
			loggedIn("login")(s)
			s.Effect.HTTP.Auth.Bearer = from("pay", "token")
		}},
		{"auth beside a header", "spec.effect.http.auth", func(s *v1alpha1.TaskTemplateSpec) {
			loggedIn("login")(s)
			valueHeader("authorization", "x")(s)
		}},
		{"a login without a Secret", "spec.effect.http.auth.basic.secretRef.name", loggedIn("")},
		{"a token without a key", "spec.effect.http.auth.bearer.secretKeyRef", bearing("pay", "")},
		{"tls without TLS", "spec.effect.http.tls", trusting("own", "ca.crt")},
		{"a CA without a key", "spec.effect.http.tls.ca.secretKeyRef", func(s *v1alpha1.TaskTemplateSpec) {
			s.Effect.HTTP.URL = "HTTPS://a.example/"
			trusting("own", "")(s)
		}},
		{"a certificate without a Secret", "spec.effect.http.tls.clientCertificate.secretRef.name", func(s *v1alpha1.TaskTemplateSpec) {
			s.Effect.HTTP.URL = "https://a.example/"
			showing("")(s)
		}},
		{"body", "spec.effect.http.body", body(`{"x":"${nonsense}"}`)},
		{"the attempt in the body", "spec.effect.http.body", body(`{"x":"${attempt}"}`)},
		{"second rule", "spec.effect.http.classify[1].when", func(s *v1alpha1.TaskTemplateSpec) {
			classified("${response.status == 1}", applied)(s)
			classified("${response.status}", applied)(s)
		}},
		{"rule's outcome", "spec.effect.http.classify[0].outcome", classified("${true}", "Perhaps")},
		{"result", "spec.effect.http.result", resulting("${response.nonsense}")},
		{"verification's URL", "spec.verification.http.url", verifiedAt("", usual...)},
		{"verification's expression", "spec.verification.http.url", verifiedAt("http://a/${response.status}", usual...)},
		{"verification's rule", "spec.verification.classify[0].when", verifiedAt("http://a/", v1alpha1.ClassifyRule{When: "${1}", Outcome: applied})},
		{"no rule of the verification", "spec.verification.classify", verifiedAt("http://a/")},
		{"verification's header", "spec.verification.http.headers[0].name", func(s *v1alpha1.TaskTemplateSpec) {
			verifiedAt("http://a/", usual...)(s)
			s.Verification.HTTP.Headers = []v1alpha1.HTTPHeader{{Name: "Host", Value: &value}}
		}},
		{"verification's result", "spec.verification.result", func(s *v1alpha1.TaskTemplateSpec) {
			verifiedAt("http://a/", usual...)(s)
			s.Verification.Result = "${"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			env, err := expr.NewEnv(nil)
			if err != nil {
				t.Fatal(err)
			}
			made, _, faults := New(Options{})("shop", post("http://a.example/", c.change), env)
			var fields []string
			for _, fault := range faults {
				fields = append(fields, fault.Field)
			}
			if !slices.Equal(fields, []string{c.field}) || made != nil {
				t.Errorf("got faults of %s, want one of %s", strings.Join(fields, ", "), c.field)
			}
		})
	}
}

func TestTraits(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*v1alpha1.TaskTemplateSpec)
		want   effect.Traits
	}{
		{"defaults", unchanged, effect.Traits{Timeout: 30 * time.Second}},
		{"time-out", func(s *v1alpha1.TaskTemplateSpec) { s.Effect.HTTP.Timeout = metav1.Duration{Duration: time.Second} }, effect.Traits{Timeout: time.Second}},
		{"idempotent", idempotent, effect.Traits{Timeout: 30 * time.Second, ReplaySafe: true, RemembersFor: 24 * time.Hour}},
		{"remembers", func(s *v1alpha1.TaskTemplateSpec) {
			s.Effect.HTTP.Receiver = v1alpha1.Receiver{Idempotent: true, RemembersFor: &metav1.Duration{Duration: time.Hour}}
		}, effect.Traits{Timeout: 30 * time.Second, ReplaySafe: true, RemembersFor: time.Hour}},
		{"verification", verifiedAt("http://a.example/${attempt}", usual...), effect.Traits{
			Timeout: 30 * time.Second, Verifies: true, VerifyTimeout: 30 * time.Second, SettleAfter: 7 * time.Second,
		}},
		{"verification's time-out", func(s *v1alpha1.TaskTemplateSpec) {
			verifiedAt("http://a.example/", usual...)(s)
			s.Verification.HTTP.Timeout = metav1.Duration{Duration: 2 * time.Second}
		}, effect.Traits{Timeout: 30 * time.Second, Verifies: true, VerifyTimeout: 2 * time.Second, SettleAfter: 7 * time.Second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			env, err := expr.NewEnv(nil)
			if err != nil {
				t.Fatal(err)
			}
			_, got, faults := New(Options{})("shop", post("http://a.example/", c.change), env)
			c.want.Prepares = true
			if len(faults) > 0 || got != c.want {
				t.Errorf("got %+v and %v, want %+v", got, faults, c.want)
			}
		})
	}
}
