package httpcall

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

const (
	applied    = v1alpha1.OutcomeApplied
	notApplied = v1alpha1.OutcomeNotApplied
	inProgress = v1alpha1.OutcomeInProgress
	unknown    = v1alpha1.OutcomeUnknown
)

func TestStatuses(t *testing.T) {
	for _, c := range []struct {
		status     int
		reason     string
		want       v1alpha1.Outcome
		permanent  bool
		idempotent v1alpha1.Outcome // where it differs for an idempotent receiver
	}{
		{status: 200, reason: "done", want: applied},
		{status: 201, reason: "done", want: applied},
		{status: 202, reason: "accepted, and no place to ask", want: applied},
		{status: 204, reason: "done", want: applied},
		{status: 206, reason: "done", want: applied},
		{status: 299, reason: "done, in a dialect", want: applied},
		{status: 101, reason: "nobody asked for another protocol", want: unknown},
		{status: 300, reason: "which of them was done?", want: unknown},
		{status: 301, reason: "often done (hazard 7)", want: unknown},
		{status: 302, reason: "often done (hazard 7)", want: unknown},
		{status: 303, reason: "after a POST it means done (hazard 7)", want: unknown},
		{status: 304, reason: "no answer to what was asked", want: unknown},
		{status: 307, reason: "do it elsewhere: it was not done here", want: notApplied, permanent: true},
		{status: 308, reason: "do it elsewhere: it was not done here", want: notApplied, permanent: true},
		{status: 400, reason: "refused", want: notApplied, permanent: true},
		{status: 401, reason: "the template's credentials", want: notApplied},
		{status: 403, reason: "the template's credentials", want: notApplied},
		{status: 404, reason: "refused", want: notApplied, permanent: true},
		{status: 407, reason: "the template's credentials, at a proxy", want: notApplied},
		{status: 408, reason: "it gave up reading, or waiting", want: unknown},
		{status: 409, reason: "an idempotent one speaks of the first request of the key", want: notApplied, permanent: true, idempotent: unknown},
		{status: 413, reason: "refused", want: notApplied, permanent: true},
		{status: 422, reason: "refused", want: notApplied, permanent: true},
		{status: 425, reason: "an idempotent one speaks of the first request of the key", want: notApplied, permanent: true, idempotent: unknown},
		{status: 429, reason: "not now", want: notApplied},
		{status: 451, reason: "refused", want: notApplied, permanent: true},
		{status: 500, reason: "it may have failed after the effect", want: unknown},
		{status: 501, reason: "every 5xx", want: unknown},
		{status: 502, reason: "a proxy lost the answer", want: unknown},
		{status: 503, reason: "a mesh says so after forwarding (hazard 7)", want: unknown},
		{status: 504, reason: "a proxy gave up waiting", want: unknown},
		{status: 599, reason: "every 5xx", want: unknown},
		{status: 799, reason: "no status of HTTP", want: unknown},
	} {
		t.Run(strconv.Itoa(c.status), func(t *testing.T) {
			for _, idempotency := range []bool{false, true} {
				body := "{}"
				if c.status == 101 || c.status == 204 || c.status == 304 {
					body = ""
				}
				r := receive(t, says(c.status, body))
				outcome := executed(t, local(), post(r.url(), func(s *v1alpha1.TaskTemplateSpec) { s.Effect.HTTP.Receiver.Idempotent = idempotency }))
				want, permanent := c.want, c.permanent
				if idempotency && c.idempotent != "" {
					want, permanent = c.idempotent, false
				}
				if outcome.Kind != want || outcome.Permanent != permanent || r.count() != 1 {
					t.Errorf("%s: idempotent %t: got %+v after %d requests, want %s, permanent %t", c.reason, idempotency, outcome, r.count(), want, permanent)
				}
				if text := "the receiver answered " + strconv.Itoa(c.status); !strings.HasPrefix(outcome.Message, text) || strings.Contains(outcome.Message, "Whatever") {
					t.Errorf("the message %q should begin with %q, in our words", outcome.Message, text)
				}
			}
		})
	}
}

func TestWhatAnAnswerSaysOfTheCredentials(t *testing.T) {
	for _, c := range []struct {
		reason string
		status int
		rules  []func(*v1alpha1.TaskTemplateSpec)
		want   effect.Credentials
	}{
		{"done", 200, nil, effect.CredentialsAccepted},
		{"refused for what was asked", 422, nil, effect.CredentialsAccepted},
		{"not let in", 401, nil, effect.CredentialsRefused},
		{"not allowed", 403, nil, effect.CredentialsRefused},
		{"not let through", 407, nil, effect.CredentialsRefused},
		{"a template that knows that this is about the submission", 403, []func(*v1alpha1.TaskTemplateSpec){classified("${response.status == 403}", notApplied)}, effect.CredentialsAccepted},
		{"a limiter stands before whoever looks at credentials", 429, nil, ""},
		{"a proxy may say so", 503, nil, ""},
		{"a redirect of a proxy, perhaps to a login", 302, nil, ""},
	} {
		outcome := executed(t, local(), post(receive(t, says(c.status, "{}")).url(), c.rules...))
		if outcome.Credentials != c.want {
			t.Errorf("%s: got %+v, want %q", c.reason, outcome, c.want)
		}
	}
	if lost := executed(t, local(), post(receive(t, drops).url())); lost.Credentials != "" {
		t.Errorf("no answer says nothing: got %+v", lost)
	}
}

func TestMessages(t *testing.T) {
	for status, want := range map[int]string{
		200: "the receiver answered 200 OK",
		401: "the receiver answered 401 Unauthorized; the template's credentials were refused",
		422: "the receiver answered 422 Unprocessable Entity",
		503: "the receiver answered 503 Service Unavailable; it may have applied the request",
		599: "the receiver answered 599; it may have applied the request",
	} {
		if got := answered(status, byStatus(status, false).message); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestInformationalAnswersAreSkipped(t *testing.T) {
	r := receive(t, func(_ int, _ seen, w io.Writer) bool {
		_, _ = io.WriteString(w, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		return true
	})
	if outcome := executed(t, local(), post(r.url())); outcome.Kind != applied {
		t.Errorf("got %+v", outcome)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		elsewhere := receive(t, says(200, "{}"))
		r := receive(t, says(status, "", "Location: "+elsewhere.url()))
		outcome := executed(t, local(), post(r.url()))
		same := receive(t, says(status, "", "Location: /again"))
		_ = executed(t, local(), post(same.url(), idempotent))
		if outcome.Kind == applied || elsewhere.count() != 0 || same.count() != 1 {
			t.Errorf("%d: got %+v; the other receiver saw %d requests, the same one %d", status, outcome, elsewhere.count(), same.count())
		}
	}
}

func TestAcceptedWithALocation(t *testing.T) {
	for _, c := range []struct {
		name, reason, location string
		want                   v1alpha1.Outcome
		path                   string
	}{
		{"relative", "resolved against the request", "/jobs/7?x=1#part", inProgress, "/jobs/7?x=1"},
		{"absolute", "the same origin", "{origin}/jobs/7", inProgress, "/jobs/7"},
		{"none", "accepted is all that it will say", "", applied, ""},
		{"another origin", "the template's credentials would go there", "http://other.example/jobs/7", applied, ""},
		{"another scheme", "that is another origin", "https://{host}/jobs/7", applied, ""},
		{"another port", "that is another origin", "http://127.0.0.1:1/jobs/7", applied, ""},
		{"with a user", "credentials do not belong in a record", "http://u:p@{host}/jobs/7", applied, ""},
		{"no URL", "nothing that can be asked", "http://[::1", applied, ""},
		{"too long", "a record cannot hold it", "/" + strings.Repeat("x", 2048), applied, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := receive(t, nil)
			location := strings.NewReplacer("{origin}", r.url(), "{host}", r.listener.Addr().String()).Replace(c.location)
			r.respond = says(202, "{}", "Location: "+location, "Retry-After: 3")
			outcome := executed(t, local(), post(r.url()+"/charges"))
			path, isSame := strings.CutPrefix(outcome.Location, r.url())
			if outcome.Kind != c.want || path != c.path || (c.path != "" && !isSame) || outcome.RetryAfter != 3*time.Second {
				t.Errorf("%s: got %+v, want %s at %q", c.reason, outcome, c.want, c.path)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 5, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, value, date string
		want              time.Duration
	}{
		{name: "none"},
		{name: "seconds", value: "120", want: 2 * time.Minute},
		{name: "zero seconds", value: "0"},
		{name: "negative", value: "-5"},
		{name: "no number", value: "soon"},
		{name: "more than a duration holds", value: "18446744073709551615", want: maxRetryAfter},
		{name: "more than a number holds", value: "99999999999999999999999"},
		{name: "a date, by our clock", value: "Thu, 05 Nov 2026 12:00:30 GMT", want: 30 * time.Second},
		{name: "a date, by its own clock", value: "Thu, 05 Nov 2026 12:00:30 GMT", date: "Thu, 05 Nov 2026 12:00:10 GMT", want: 20 * time.Second},
		{name: "a date that is over", value: "Thu, 05 Nov 2026 11:00:00 GMT"},
		{name: "a date in another century", value: "Thu, 05 Nov 2126 11:00:00 GMT", want: maxRetryAfter},
	} {
		headers := http.Header{"Retry-After": {c.value}, "Date": {c.date}}
		if got := retryAfter(headers, now); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestRetryAfterComesWithEveryStatus(t *testing.T) {
	for _, status := range []int{202, 409, 429, 503} {
		r := receive(t, says(status, "{}", "Retry-After: 7"))
		if outcome := executed(t, local(), post(r.url())); outcome.RetryAfter != 7*time.Second {
			t.Errorf("%d: got %+v", status, outcome)
		}
	}
}

func TestRules(t *testing.T) {
	type change = func(*v1alpha1.TaskTemplateSpec)
	for _, c := range []struct {
		name, reason string
		status       int
		body         string
		rules        []change
		want         v1alpha1.Outcome
		permanent    bool
		message      string
	}{
		{
			name: "already done", reason: "the template knows better than the table", status: 409, body: `{"code":"DONE"}`,
			rules: []change{classified(`${response.status == 409 && response.body.code == "DONE"}`, applied)},
			want:  applied, message: "the receiver answered 409 Conflict; rule 1 of the template says Applied",
		},
		{
			name: "no rule is true", reason: "then the table decides", status: 409, body: `{"code":"OTHER"}`,
			rules: []change{classified(`${response.body.code == "DONE"}`, applied)}, want: notApplied, permanent: true,
		},
		{
			name: "the first true rule", reason: "order decides", status: 500, body: `{}`,
			rules: []change{
				classified(`${response.status == 400}`, applied),
				classified(`${response.status == 500}`, notApplied),
				classified(`${response.status >= 500}`, unknown),
			},
			want: notApplied, permanent: true, message: "rule 2 of the template says NotApplied",
		},
		{
			name: "an error in a 200", reason: "a receiver may say no politely", status: 200, body: `{"error":"no funds"}`,
			rules: []change{classified(`${has(response.body.error)}`, notApplied)}, want: notApplied, permanent: true,
		},
		{
			name: "doubt in a 200", reason: "a rule may also take away certainty", status: 200, body: `{"state":"?"}`,
			rules: []change{classified(`${response.body.state == "?"}`, unknown)}, want: unknown,
		},
		{
			name: "by header, parameter, submission and attempt", reason: "a rule sees all of them", status: 418, body: ``,
			rules: []change{classified(`${response.headers["x-seen"] == "yes" && params.id == 42 && submission.name == "award-42" && attempt == 1}`, applied)},
			want:  applied,
		},
		{
			name: "a rule that fails, about a refusal", reason: "it might have said Applied: nobody knows", status: 422, body: `no JSON`,
			rules: []change{classified(`${response.body.code == "DONE"}`, applied)},
			want:  unknown, message: "rule 1 of the template cannot be evaluated for this answer",
		},
		{
			name: "a rule that fails, about success", reason: "it might have said NotApplied", status: 200, body: `[]`,
			rules: []change{classified(`${response.body.code == "NO"}`, notApplied)}, want: unknown,
		},
		{
			name: "a rule that fails where it makes no difference", reason: "true or false, nothing was applied", status: 429, body: ``,
			rules: []change{classified(`${response.body.code == "NO"}`, notApplied)}, want: notApplied,
		},
		{
			name: "a rule that fails before one that agrees", reason: "either way it was applied", status: 500, body: `{}`,
			rules: []change{
				classified(`${response.body.code == "DONE"}`, applied),
				classified(`${response.status == 500}`, applied),
			},
			want: applied,
		},
		{
			name: "a rule before one that would fail", reason: "the first true one decides, the rest is not asked", status: 500, body: `{}`,
			rules: []change{
				classified(`${response.status == 500}`, applied),
				classified(`${response.body.code == "DONE"}`, notApplied),
			},
			want: applied,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := receive(t, says(c.status, c.body, "X-Seen: yes"))
			outcome := executed(t, local(), post(r.url(), c.rules...))
			if outcome.Kind != c.want || outcome.Permanent != c.permanent || !strings.Contains(outcome.Message, c.message) {
				t.Errorf("%s: got %+v, want %s, permanent %t, with %q", c.reason, outcome, c.want, c.permanent, c.message)
			}
		})
	}
}

func TestRulesJudgeNoLostAnswer(t *testing.T) {
	r := receive(t, drops)
	outcome := executed(t, local(), post(r.url(), classified("${true}", notApplied)))
	if outcome.Kind != unknown {
		t.Errorf("there was no answer to judge: got %+v", outcome)
	}
}

func TestAMessageIsOneShortLine(t *testing.T) {
	long := cut("a\nb\t" + strings.Repeat("é", 1000) + "\xff")
	if err := effecttest.Check(effectOf(long)); err != nil || !strings.HasPrefix(long, "a b é") {
		t.Errorf("got %q: %v", long, err)
	}
}
