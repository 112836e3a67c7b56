package httpcall

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

var usual = []v1alpha1.ClassifyRule{
	{When: `${response.status == 404}`, Outcome: notApplied},
	{When: `${response.status == 200 && response.body.state == "running"}`, Outcome: inProgress},
	{When: `${response.status == 200}`, Outcome: applied},
}

func TestVerify(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		respond      func(int, seen, io.Writer) bool
		want         v1alpha1.Outcome
		result       string
		message      string
	}{
		{"there", "a rule says so", says(200, `{"state":"done"}`), applied, `{"state":"done"}`, "verification: the receiver answered 200 OK; rule 3"},
		{"not there", "a rule says so", says(404, ""), notApplied, "", "verification: the receiver answered 404 Not Found; rule 1"},
		{"under way", "a rule says so", says(200, `{"state":"running"}`), inProgress, "", "rule 2"},
		{"no rule", "200 without a rule says nothing here, so neither does 403", says(403, ""), unknown, "", "no rule of the verification says what that means"},
		{"a server error", "no rule", says(503, ""), unknown, "", "no rule of the verification"},
		{"a redirect", "not followed", says(302, "", "Location: /elsewhere"), unknown, "", "no rule of the verification"},
		{"a rule that fails", "it could have been either", says(200, "text"), unknown, "", "rule 2 of the template cannot be evaluated"},
		{"no answer", "that says nothing about the attempt", drops, unknown, "", "verification could not tell: the connection ended before the receiver answered"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := receive(t, c.respond)
			one := compiled(t, local(), post("http://"+effecttest.ClosedAddress(t).String(), verifiedAt(r.url()+"/charges/${params.id}", usual...)))
			outcome, err := one.Verify(t.Context(), effecttest.NewAttempt(2))
			if err != nil || outcome.Kind != c.want || string(outcome.Result) != c.result || !strings.Contains(outcome.Message, c.message) {
				t.Errorf("%s: got %+v and %v, want %s", c.reason, outcome, err, c.want)
			}
			if err := effecttest.Check(outcome); err != nil {
				t.Error(err)
			}
			request := r.all()[0]
			if request.Method != "GET" || request.RequestURI != "/charges/42" || request.body != "" ||
				request.Header.Get("Idempotency-Key") != "" || request.Header.Get("Taskonce-Attempt") != "" {
				t.Errorf("a question is not the action: got %s %s with %v", request.Method, request.RequestURI, request.Header)
			}
		})
	}
}

func TestVerifyUnreachable(t *testing.T) {
	one := compiled(t, local(), post("http://"+effecttest.ClosedAddress(t).String(), verifiedAt("http://"+effecttest.ClosedAddress(t).String(), usual...)))
	outcome, err := one.Verify(t.Context(), effecttest.NewAttempt(1))
	if want := "verification could not tell: the receiver refused the connection"; err != nil || outcome.Kind != unknown || outcome.Message != want {
		t.Errorf("got %+v and %v, want %q", outcome, err, want)
	}
}

func TestVerifyOfAParameterThatIsMissing(t *testing.T) {
	one := compiled(t, local(), post("http://"+effecttest.ClosedAddress(t).String(), verifiedAt("http://"+effecttest.ClosedAddress(t).String()+"/${params.missing}", usual...)))
	outcome, err := one.Verify(t.Context(), effecttest.NewAttempt(1))
	if err != nil || outcome.Kind != unknown || outcome.Permanent {
		t.Errorf("a question that cannot be asked says nothing about the attempt: got %+v and %v", outcome, err)
	}
}

func TestVerifyWithoutVerification(t *testing.T) {
	outcome, err := compiled(t, local(), post("http://"+effecttest.ClosedAddress(t).String())).Verify(t.Context(), effecttest.NewAttempt(1))
	if err != nil || outcome.Kind != unknown {
		t.Errorf("got %+v and %v", outcome, err)
	}
}

func TestVerifyWithASecret(t *testing.T) {
	missing := compiled(t, local(), post("http://"+effecttest.ClosedAddress(t).String(), verifiedAt("http://"+effecttest.ClosedAddress(t).String(), usual...), func(spec *v1alpha1.TaskTemplateSpec) {
		ref := v1alpha1.SecretKeyRef{Name: "pay", Key: "key"}
		spec.Verification.HTTP.Headers = []v1alpha1.HTTPHeader{{Name: "X-Api-Key", ValueFrom: &v1alpha1.ValueSource{SecretKeyRef: ref}}}
	}))
	_, err := missing.Verify(t.Context(), effecttest.NewAttempt(1))
	if dependency := (*effect.DependencyError)(nil); !errors.As(err, &dependency) {
		t.Errorf("got %v", err)
	}
}

func TestVerifyCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	one := compiled(t, local(), post("http://"+effecttest.ClosedAddress(t).String(), verifiedAt("http://"+effecttest.ClosedAddress(t).String(), usual...)))
	if outcome, err := one.Verify(ctx, effecttest.NewAttempt(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %+v and %v", outcome, err)
	}
}

func TestPoll(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		respond      func(int, seen, io.Writer) bool
		want         v1alpha1.Outcome
		result, path string
	}{
		{"finished", "200 with the result", says(200, `{"id":7}`), applied, `{"id":7}`, ""},
		{"created", "201", says(201, ``), applied, ``, ""},
		{"no content", "204", says(204, ``), applied, ``, ""},
		{"not yet", "the same place is asked again", says(202, `{}`), inProgress, "", "/jobs/7"},
		{"not yet, and moved", "the new place is asked", says(202, `{}`, "Location: /jobs/8"), inProgress, "", "/jobs/8"},
		{"not yet, and moved away", "another origin is not asked", says(202, `{}`, "Location: http://other.example/"), inProgress, "", "/jobs/7"},
		{"gone", "it says nothing about the action", says(404, ``), unknown, "", ""},
		{"an error", "it says nothing about the action", says(500, ``), unknown, "", ""},
		{"a redirect", "not followed", says(303, ``, "Location: /done"), unknown, "", ""},
		{"no answer", "it says nothing about the action", drops, unknown, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := receive(t, c.respond)
			one := compiled(t, local(), post(r.url(), valueHeader("X-Tenant", "a"), valueHeader("Content-Type", "text/x"), idempotent))
			attempt := effecttest.NewAttempt(1)
			attempt.Location = r.url() + "/jobs/7"
			attempt.Traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
			outcome, err := one.Poll(t.Context(), attempt)
			if err != nil || outcome.Kind != c.want || string(outcome.Result) != c.result || strings.TrimPrefix(outcome.Location, r.url()) != c.path {
				t.Errorf("%s: got %+v and %v, want %s", c.reason, outcome, err, c.want)
			}
			if err := effecttest.Check(outcome); err != nil {
				t.Error(err)
			}
			request := r.all()[0]
			if request.Method != "GET" || request.RequestURI != "/jobs/7" || request.Header.Get("X-Tenant") != "a" || request.Header.Get("Content-Type") != "" || request.Header.Get("Idempotency-Key") != "" ||
				request.Header.Get("Traceparent") != attempt.Traceparent {
				t.Errorf("got %s %s with %v", request.Method, request.RequestURI, request.Header)
			}
		})
	}
}

func TestPollAsksTheTemplatesOriginOnly(t *testing.T) {
	other := receive(t, says(200, "{}"))
	one := compiled(t, local(), post("http://"+effecttest.ClosedAddress(t).String()))
	for _, location := range []string{other.url(), "", "/jobs/7", "http://[::1", "file:///etc/passwd"} {
		attempt := effecttest.NewAttempt(1)
		attempt.Location = location
		outcome, err := one.Poll(t.Context(), attempt)
		if err != nil || outcome.Kind != unknown || other.count() != 0 {
			t.Errorf("%q: the template's credentials would go there: got %+v and %v", location, outcome, err)
		}
		if want := "asking for progress could not tell: the place to ask for progress is not "; err == nil && !strings.HasPrefix(outcome.Message, want) {
			t.Errorf("%q: it says %q, and nobody has verified anything", location, outcome.Message)
		}
	}
}

func TestQuestionsGoOverConnectionsOfTheirOwn(t *testing.T) {
	r := receive(t, says(404, ""))
	one := compiled(t, local(), post("http://"+effecttest.ClosedAddress(t).String(), verifiedAt(r.url(), usual...)))
	for n := 1; n <= 2; n++ {
		if outcome, err := one.Verify(t.Context(), effecttest.NewAttempt(1)); err != nil || outcome.Kind != notApplied || r.all()[n-1].connection != n {
			t.Fatalf("got %+v and %v", outcome, err)
		}
	}
}
