package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// situation is one row of the page's table.
type situation struct {
	what   string
	status int
	kind   string // of the problem
	// header is what is told beside the body: the values that are the same each time, and of others that they are there.
	header string
	ask    func(w *world) answered
}

// passing asks as the application does, without verifying anything.
func passing(a asked) func(*world) answered {
	return func(w *world) answered { return w.send(installation.passing, w.token, a) }
}

// after asks for something first.
func after(first func(*world), then func(*world) answered) func(*world) answered {
	return func(w *world) answered {
		first(w)
		return then(w)
	}
}

func deleted(name string) func(*world) {
	return func(w *world) {
		if err := w.admin.Delete(w.Context(), w.submission(name)); err != nil {
			w.Fatal(err)
		}
	}
}

// executing waits until status says that the effect is under way: what is answered before that depends on who is quicker.
func executing(name string) func(*world) {
	return func(w *world) {
		w.becomes(name, "Executing", func(s v1alpha1.TaskSubmissionStatus) bool { return s.Reason == v1alpha1.ReasonExecuting })
	}
}

// first submits as a student does whose token the gateway verifies.
func first(key, template string) func(*world) {
	return func(w *world) {
		w.expect(201, "", installation.verifying, installation.issuer.of(w.T, "stu-7"), submits(key, template))
	}
}

// other asks as another student.
func other(a asked) func(*world) answered {
	return func(w *world) answered {
		return w.send(installation.verifying, installation.issuer.of(w.T, "stu-8"), a)
	}
}

const location, again = "Location", "Location, Retry-After: 1"

// situations are in the order in which they are played: later ones look at what earlier ones left.
func situations() []situation {
	const replayed = "Location, Idempotency-Replayed: true"
	otherPayload := saying(`{"template":"award","parameters":{"order":"8"}}`)
	return []situation{
		{"the first request, done within its wait", 201, "", location, passing(submits("a", "award"))},
		{"the same request again", 201, "", replayed, passing(submits("a", "award"))},
		{"the same request again, after its submission was deleted", 201, "", replayed, after(deleted("a"), passing(submits("a", "award")))},
		{"the same key, with other parameters", 422, "key-reused", "", passing(submits("a", "award", otherPayload))},
		{"the same key, with other parameters, after its submission was deleted", 422, "key-reused", "", after(deleted("a"), passing(submits("a", "award", otherPayload)))},
		{"the first request, failed", 424, "not-applied", location, passing(submits("b", "refused"))},
		{"the same request again, failed", 424, "not-applied", replayed, passing(submits("b", "refused"))},
		{"the same request again, failed, after its submission was deleted", 424, "not-applied", replayed, after(deleted("b"), passing(submits("b", "refused")))},
		{"the first request, `Prefer: wait=0`, not done yet", 202, "", "Location, Preference-Applied: wait=0, Retry-After: 1", passing(submits("c", "slow", with("Prefer", "wait=0")))},
		{"the same request again, while the first is in process", 409, "in-process", again, after(executing("c"), passing(submits("c", "slow")))},
		{"the same request again, `Prefer: wait=1`, while the first is in process", 409, "in-process", again, passing(submits("c", "slow", with("Prefer", "wait=1")))},
		{"without a key", 400, "key-missing", "", passing(submits("d", "award", without("Idempotency-Key")))},
		{"a key without quotes", 400, "invalid-key", "", passing(submits("d", "award", with("Idempotency-Key", "1 2")))},
		{"two keys, each in a header line of its own", 400, "invalid-key", "", passing(submits("d", "award", also("Idempotency-Key", `"e"`)))},
		{"a key that ends with white space", 400, "invalid-key", "", passing(submits("d ", "award"))},
		{"a body that is not JSON", 400, "invalid-request", "", passing(submits("d", "award", saying("{")))},
		{"a body with an unknown member", 400, "invalid-request", "", passing(submits("d", "award", saying(`{"template":"award","amount":3}`)))},
		{"a number that would be stored as another one", 400, "invalid-request", "", passing(submits("d", "award", saying(`{"template":"award","parameters":{"order":123456789012345678901}}`)))},
		{"parameters that the template does not take", 400, "invalid-parameters", "", passing(submits("d", "award", saying(`{"template":"award","parameters":{"order":7}}`)))},
		{"without a token", 401, "unauthenticated", "WWW-Authenticate: Bearer", func(w *world) answered { return w.send(installation.passing, "", submits("d", "award")) }},
		{"a token that is not accepted", 401, "unauthenticated", "WWW-Authenticate: Bearer", func(w *world) answered { return w.send(installation.passing, "forged", submits("d", "award")) }},
		{"a caller without the right", 403, "forbidden", "", func(w *world) answered {
			return w.send(installation.passing, w.account("nobody"), submits("d", "award"))
		}},
		{"somebody else's action, where the gateway verifies tokens, and the template states no `access`", 403, "not-told", "", after(first("f", "award"), other(submits("f", "award")))},
		{"the same, after its submission was deleted", 403, "not-told", "", after(deleted("f"), other(submits("f", "award")))},
		{"a key whose name is taken by what failed for its input, which the caller may not delete", 409, "key-blocked", "", blocked},
		{"a body that is too large", 413, "too-large", "", passing(submits("d", "award", saying(`{"template":"award","parameters":{"order":"`+strings.Repeat("7", 5000)+`"}}`)))},
		{"a body of another type", 415, "unsupported-media-type", "", passing(submits("d", "award", with("Content-Type", "text/plain")))},
		{"a body that does not come", 408, "slow-body", "", slowly},
		{"more requests than a caller may send", 429, "too-many-requests", "Retry-After: 1", limited},
		{"`GET` by name", 200, "", "", passing(reads("/c"))},
		{"`GET` by key", 200, "", "Content-Location", passing(reads("?idempotencyKey=c"))},
		{"`GET` by a key that nothing was submitted under", 404, "not-found", "", passing(reads("?idempotencyKey=d"))},
		{"`GET` of events", 200, "", "", passing(reads("/b/events"))},
		{"`GET` of events that were all seen", 204, "", "", func(w *world) answered {
			return w.send(installation.passing, w.token, reads("/b/events", with("Last-Event-ID", w.submission("b").ResourceVersion)))
		}},
		{"a namespace that is not one", 404, "no-such-namespace", "", func(w *world) answered {
			elsewhere := *w
			elsewhere.namespace = "nowhere-" + w.namespace
			return elsewhere.send(installation.passing, w.everywhere(), submits("d", "award"))
		}},
		{"a namespace or a name that can be none", 400, "invalid-request", "", passing(reads("/x%25y"))},
		{"another method", 405, "wrong-method", "Allow: GET, HEAD, POST", passing(asked{method: http.MethodDelete})},
		{"another path", 404, "no-such-path", "", passing(reads("/c/d/e"))},
		{"the API server is away, `POST`", 503, "unavailable", "Retry-After: 1", cutOff(submits("e", "award"))},
		{"the API server is away, `GET`", 503, "unavailable", "Retry-After: 1", cutOff(reads("/c"))},
		{"the API server takes the request, and does not answer, `POST`", 503, "unanswered", "Retry-After: 1", mute(submits("e", "award"))},
		{"the API server takes the request, and does not answer, `GET`", 503, "unavailable", "Retry-After: 1", mute(reads("/c"))},
	}
}

// limited asks a gateway that lets a caller ask once.
func limited(w *world) answered {
	process, url, err := installation.gateway(w.Context(), "--rate=0.001", "--burst=1")
	if err != nil {
		w.Fatal(err)
	}
	defer process.Kill()
	w.expect(404, "not-found", url, w.token, reads("/d"))
	w.expect(403, "forbidden", url, w.account("somebody-else"), reads("/d")) // has a limit of its own
	return w.send(url, w.token, reads("/d"))
}

// cutOff asks a gateway that cannot reach the API server.
func cutOff(a asked) func(*world) answered {
	return func(w *world) answered { return w.sendTo("https://"+unused(w.T), a) }
}

// mute asks a gateway whose API server takes requests, and answers none.
func mute(a asked) func(*world) answered {
	return func(w *world) answered {
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
			_, _ = io.Copy(io.Discard, request.Body)
			<-request.Context().Done()
		}))
		defer server.Close()
		return w.sendTo(server.URL, a)
	}
}

// sendTo asks a gateway that takes something else for the API server.
func (w *world) sendTo(server string, a asked) answered {
	text, err := os.ReadFile(installation.kubeconfig)
	if err != nil {
		w.Fatal(err)
	}
	alone := installation
	alone.kubeconfig = filepath.Join(w.TempDir(), "kubeconfig")
	if err := os.WriteFile(alone.kubeconfig, []byte(strings.ReplaceAll(string(text), installation.plane.Config.Host, server)), 0o600); err != nil {
		w.Fatal(err)
	}
	process, url, err := alone.gateway(w.Context(), "--api-patience=1s")
	if err != nil {
		w.Fatal(err)
	}
	defer process.Kill()
	return w.send(url, w.token, a)
}

// slowly sends a body that ends before it is whole.
func slowly(w *world) answered {
	body, _ := io.Pipe()
	request, err := http.NewRequestWithContext(w.Context(), http.MethodPost, installation.passing+"/v1/namespaces/"+w.namespace+"/submissions", body)
	if err != nil {
		w.Fatal(err)
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + w.token, "Idempotency-Key": `"d"`, "Content-Type": "application/json"} {
		request.Header.Set(name, value)
	}
	return w.do(request)
}
