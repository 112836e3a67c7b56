package httpcall

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

func effectOf(message string) effect.Outcome {
	return effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: message}
}

// sent executes attempts and returns the requests that the receiver saw.
func sent(t *testing.T, change func(*v1alpha1.TaskTemplateSpec), path string, attempts ...effect.Attempt) []seen {
	t.Helper()
	r := receive(t, says(200, "{}"))
	one := compiled(t, local(), post(r.url()+path, change))
	for _, attempt := range attempts {
		if outcome := execute(t, one, attempt); outcome.Kind != applied {
			t.Fatalf("got %+v", outcome)
		}
	}
	return r.all()
}

func unchanged(*v1alpha1.TaskTemplateSpec) {}

func TestWhatIsSent(t *testing.T) {
	attempt := effecttest.NewAttempt(3)
	attempt.Traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	request := sent(t, unchanged, "/charges", attempt)[0]
	for name, want := range map[string]string{
		"Idempotency-Key": `"shop/award-42"`, "Taskonce-Attempt": "3", "Traceparent": attempt.Traceparent,
		"Content-Type": "application/json", "User-Agent": "taskonce", "Accept-Encoding": "", "Connection": "close",
	} {
		if got := request.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if request.Method != "POST" || request.URL.Path != "/charges" || request.body != `{"id":42}` || request.ContentLength != 9 {
		t.Errorf("got %s %s with %q", request.Method, request.URL, request.body)
	}
}

func TestTheSameOnEveryAttempt(t *testing.T) {
	change := func(spec *v1alpha1.TaskTemplateSpec) {
		body(`{"z":"${params.id}","a":{"y":"${submission.key}","x":[1,"${params.id + 1}"]},"n":9007199254740993}`)(spec)
		valueHeader("X-Try", "try ${attempt}")(spec)
	}
	requests := sent(t, change, "/x/${params.id}", effecttest.NewAttempt(1), effecttest.NewAttempt(2), effecttest.NewAttempt(3))
	for i, request := range requests {
		if request.body != requests[0].body || request.Header.Get("Idempotency-Key") != `"shop/award-42"` || request.URL.Path != "/x/42" {
			t.Errorf("attempt %d differs: %s %q", i+1, request.URL, request.body)
		}
		if number := string(rune('1' + i)); request.Header.Get("Taskonce-Attempt") != number || request.Header.Get("X-Try") != "try "+number {
			t.Errorf("attempt %d is not told in a header: %v", i+1, request.Header)
		}
	}
	if want := `{"a":{"x":[1,43],"y":"award-42"},"n":9007199254740993,"z":42}`; requests[0].body != want {
		t.Errorf("got the body %s, want %s", requests[0].body, want)
	}
}

func TestDigitsArePreserved(t *testing.T) {
	attempt := effecttest.NewAttempt(1)
	attempt.Parameters = json.RawMessage(`{"id":9007199254740993,"rate":1.10}`)
	whole := sent(t, unchanged, "/x/${params.id}?q=${params.id}", attempt)[0]
	if whole.body != `{"id":9007199254740993,"rate":1.10}` || whole.RequestURI != "/x/9007199254740993?q=9007199254740993" {
		t.Errorf("got %s with %s", whole.RequestURI, whole.body)
	}
	if part := sent(t, body(`{"only":"${params.id}"}`), "", attempt)[0]; part.body != `{"only":9007199254740993}` {
		t.Errorf("got %s", part.body)
	}
}

func TestBodies(t *testing.T) {
	noParameters := effecttest.NewAttempt(1)
	noParameters.Parameters = nil
	for _, c := range []struct {
		name, reason string
		change       func(*v1alpha1.TaskTemplateSpec)
		attempt      effect.Attempt
		body, typed  string
	}{
		{"POST", "the parameters", method("POST"), effecttest.NewAttempt(1), `{"id":42}`, "application/json"},
		{"PUT", "the parameters", method("PUT"), effecttest.NewAttempt(1), `{"id":42}`, "application/json"},
		{"PATCH", "the parameters", method("PATCH"), effecttest.NewAttempt(1), `{"id":42}`, "application/json"},
		{"GET", "no body where none is written", method("GET"), effecttest.NewAttempt(1), "", ""},
		{"DELETE", "no body where none is written", method("DELETE"), effecttest.NewAttempt(1), "", ""},
		{"no parameters", "absent ones are an empty object", method("POST"), noParameters, "{}", "application/json"},
		{"another type", "the template's header counts", valueHeader("content-type", "application/merge-patch+json"), effecttest.NewAttempt(1), `{"id":42}`, "application/merge-patch+json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			request := sent(t, c.change, "", c.attempt)[0]
			if request.body != c.body || request.Header.Get("Content-Type") != c.typed {
				t.Errorf("%s: got %q as %q", c.reason, request.body, request.Header.Get("Content-Type"))
			}
		})
	}
}

func TestStructuredFieldString(t *testing.T) {
	for text, want := range map[string]string{
		"shop/award-42": `"shop/award-42"`, `a"b\c`: `"a\"b\\c"`, "": "", "é": "", "a\nb": "", "a\x7f": "",
	} {
		got, err := sfString(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q and %v, want %q", text, got, err, want)
		}
	}
}

func TestATraceThatIsNoneIsLeftOut(t *testing.T) {
	attempt := effecttest.NewAttempt(1)
	attempt.Traceparent = "00-nonsense\r\nX-Evil: 1"
	request := sent(t, unchanged, "", attempt)[0]
	if request.Header.Get("Traceparent") != "" || request.Header.Get("X-Evil") != "" {
		t.Errorf("got %v", request.Header)
	}
}

func TestRequestsThatCannotBeMade(t *testing.T) {
	attempt := effecttest.NewAttempt(1)
	attempt.Parameters = json.RawMessage(`{"name":"a\r\nX-Evil: 1","id":42}`)
	for _, c := range []struct {
		name, path string
		change     func(*v1alpha1.TaskTemplateSpec)
		message    string
	}{
		{"URL", "/${params.missing}", unchanged, "the URL cannot be made: "},
		{"body", "", body(`{"x":"${params.missing}"}`), "the body cannot be made: "},
		{"header", "", valueHeader("X-Name", "${params.missing}"), "the header X-Name cannot be made: "},
		{"a header's line end", "", valueHeader("X-Name", "${params.name}"), "the header X-Name would hold a character that headers cannot hold"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := receive(t, says(200, "{}"))
			outcome := execute(t, compiled(t, local(), post(r.url()+c.path, c.change)), attempt)
			if outcome.Kind != notApplied || !outcome.Permanent || !strings.HasPrefix(outcome.Message, c.message) || r.count() != 0 {
				t.Errorf("the same parameters make no request next time: got %+v after %d requests", outcome, r.count())
			}
		})
	}
}

func TestSecrets(t *testing.T) {
	options := local()
	options.Secret = secretsOf(map[string]string{"pay/key": "s3cret-value\n", "pay/broken": "s3cret-\x00value", "pay/short": "1"})
	r := receive(t, says(200, "{}"))
	if outcome := executed(t, options, post(r.url(), secretHeader("X-Api-Key", "pay", "key"))); outcome.Kind != applied {
		t.Fatalf("got %+v", outcome)
	}
	if got := r.all()[0].Header.Get("X-Api-Key"); got != "s3cret-value" {
		t.Errorf("got the header %q", got)
	}
	for name, change := range map[string]func(*v1alpha1.TaskTemplateSpec){
		"the Secret is missing":    secretHeader("X-Api-Key", "other", "key"),
		"its key is missing":       secretHeader("X-Api-Key", "pay", "other"),
		"its value fits no header": secretHeader("X-Api-Key", "pay", "broken"),
	} {
		_, err := compiled(t, options, post(r.url(), change)).Execute(t.Context(), effecttest.NewAttempt(1))
		var missing *effect.DependencyError
		if !errors.As(err, &missing) || strings.Contains(err.Error(), "s3cret") || r.count() != 1 {
			t.Errorf("%s: it is waited for, and its value is told to nobody: got %v after %d requests", name, err, r.count())
		}
	}
	options.Secret = nil
	_, err := compiled(t, options, post(r.url(), secretHeader("X-Api-Key", "pay", "key"))).Execute(t.Context(), effecttest.NewAttempt(1))
	if missing := (*effect.DependencyError)(nil); !errors.As(err, &missing) {
		t.Errorf("an operator without Secrets: got %v", err)
	}
}

func TestASecretThatCannotBeReadIsNoDependency(t *testing.T) {
	options, down := local(), errors.New("the API server is down")
	options.Secret = func(context.Context, string, string) (map[string][]byte, error) { return nil, down }
	r := receive(t, says(200, "{}"))
	_, err := compiled(t, options, post(r.url(), secretHeader("X-Api-Key", "pay", "key"))).Execute(t.Context(), effecttest.NewAttempt(1))
	if missing := (*effect.DependencyError)(nil); errors.As(err, &missing) || !errors.Is(err, down) || r.count() != 0 {
		t.Errorf("got %v after %d requests", err, r.count())
	}
}

func TestSecretsAreInNoOutcome(t *testing.T) {
	const secret = `Bearer s3cret"value`
	options := local()
	options.Secret = secretsOf(map[string]string{"pay/key": secret})
	leaks := func(text string) bool { return strings.Contains(text, "s3cret") }
	for name, respond := range map[string]func(r *receiver){
		"in the body":     func(r *receiver) { r.respond = says(200, `{"you sent":"s3cret\"value"}`) },
		"in a text":       func(r *receiver) { r.respond = says(200, secret, "Content-Type: text/plain") },
		"in a location":   func(r *receiver) { r.respond = says(202, "{}", `Location: /jobs?t=`+"s3cret%22value") },
		"in a lost reply": func(r *receiver) { r.respond = drops },
		"in a refusal":    func(r *receiver) { r.respond = says(400, secret) },
	} {
		r := receive(t, nil)
		respond(r)
		outcome := executed(t, options, post(r.url(), secretHeader("Authorization", "pay", "key"),
			classified(`${response.status == 400 && int(response.body) == 1}`, unknown), classified(`${response.status == 400}`, applied)))
		if raw, _ := json.Marshal(outcome); leaks(string(raw)) {
			t.Errorf("%s: it leaks: %s", name, raw)
		}
	}
}

func TestMessagesQuoteNoSecret(t *testing.T) {
	c := newClient(Options{})
	a := &answer{status: 400, header: http.Header{}, url: &url.URL{}}
	quotes := verdict{kind: unknown, message: `no number: "s3cret-value", "1"`}
	got := c.conclude(quotes, a, secrets{"Bearer s3cret-value", "1"}).Message
	if want := `the receiver answered 400 Bad Request; no number: "[withheld]", "1"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
