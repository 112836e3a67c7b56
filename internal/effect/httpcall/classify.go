package httpcall

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
)

const (
	// maxMessage is how many characters of a message a record holds.
	maxMessage = 512
	// maxLocation is how long a location a record holds.
	maxLocation = 2048
	// maxRetryAfter bounds what a receiver can ask for.
	maxRetryAfter = 30 * 24 * time.Hour
)

// verdict is what an answer means.
type verdict struct {
	kind      v1alpha1.Outcome
	permanent bool
	message   string
	// unauthorized says that the answer is about the template's credentials, and not about the submission.
	unauthorized bool
}

// rule turns an answer into an outcome where its condition is true.
type rule struct {
	when    *expr.Condition
	outcome v1alpha1.Outcome
}

// byAnswer is what an answer means where no rule says otherwise. A receiver that accepted the action and says where
// to ask for its progress has not finished; without a place to ask, accepted is all that it will say.
func byAnswer(a *answer, idempotent bool) verdict {
	if a.status == http.StatusAccepted && progress(a) != "" {
		return verdict{kind: v1alpha1.OutcomeInProgress, message: "it has not finished"}
	}
	return byStatus(a.status, idempotent)
}

// byStatus is the table of the design's section 6. It is careful: what a proxy or a mesh may say after the receiver
// has applied the request (408, 5xx, 301 to 303: hazard 7) is Unknown, and so are 409 and 425 of an idempotent
// receiver, which may be about the first request of the same key.
func byStatus(status int, idempotent bool) verdict {
	switch {
	case status >= 200 && status < 300:
		return verdict{kind: v1alpha1.OutcomeApplied}
	case status == http.StatusTooManyRequests:
		return verdict{kind: v1alpha1.OutcomeNotApplied, message: "it asks for fewer requests"}
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		return verdict{kind: v1alpha1.OutcomeNotApplied, unauthorized: true, message: "the template's credentials were refused"}
	case idempotent && (status == http.StatusConflict || status == http.StatusTooEarly):
		return verdict{kind: v1alpha1.OutcomeUnknown, message: "an earlier request with the same key may still be under way"}
	case status == http.StatusTemporaryRedirect, status == http.StatusPermanentRedirect:
		return verdict{kind: v1alpha1.OutcomeNotApplied, permanent: true, message: "redirects are not followed"}
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout:
		return verdict{kind: v1alpha1.OutcomeNotApplied, permanent: true}
	}
	return verdict{kind: v1alpha1.OutcomeUnknown, message: "it may have applied the request"}
}

// classify asks the rules in order; the first true one decides, and otherwise the fallback does. A rule that cannot
// be evaluated could have been true or false: where both ways come to the same, that is the answer, and otherwise
// it is Unknown, with the number of the rule, counted from 1.
func classify(rules []rule, in expr.Input, fallback verdict) verdict {
	return classifyFrom(0, rules, in, fallback)
}

func classifyFrom(i int, rules []rule, in expr.Input, fallback verdict) verdict {
	if i == len(rules) {
		return fallback
	}
	holds, err := rules[i].when.True(in)
	ruled := verdict{
		kind: rules[i].outcome, permanent: rules[i].outcome == v1alpha1.OutcomeNotApplied,
		message: fmt.Sprintf("rule %d of the template says %s", i+1, rules[i].outcome),
	}
	switch {
	case err == nil && holds:
		return ruled
	case err == nil:
		return classifyFrom(i+1, rules, in, fallback)
	}
	otherwise := classifyFrom(i+1, rules, in, fallback)
	if otherwise.kind == ruled.kind {
		return otherwise
	}
	return verdict{
		kind:    v1alpha1.OutcomeUnknown,
		message: fmt.Sprintf("rule %d of the template cannot be evaluated for this answer: %v", i+1, err),
	}
}

// credentials returns what a verdict says of the template's credentials. A refusal for now and an unknown outcome may be
// a proxy's word, which has looked at none.
func (v verdict) credentials() effect.Credentials {
	switch {
	case v.unauthorized:
		return effect.CredentialsRefused
	case v.kind == v1alpha1.OutcomeApplied, v.kind == v1alpha1.OutcomeInProgress, v.permanent:
		return effect.CredentialsAccepted
	}
	return ""
}

// answered returns the sentence that tells of an answer.
func answered(status int, message string) string {
	sentence := "the receiver answered " + statusLine(status)
	if message != "" {
		sentence += "; " + message
	}
	return cut(sentence)
}

// statusLine is a status in HTTP's own words, and not in the receiver's.
func statusLine(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// cut makes a message one line of at most maxMessage characters.
func cut(message string) string { return effect.OneLine(message, maxMessage) }

// progress returns the absolute URL in Location, where it has the origin of the URL that was asked and a record
// can hold it; "" otherwise.
func progress(a *answer) string {
	location, err := a.url.Parse(a.header.Get("Location"))
	if err != nil || a.header.Get("Location") == "" || !sameOrigin(location, a.url) {
		return ""
	}
	location.Fragment, location.RawFragment = "", ""
	if text := location.String(); len(text) <= maxLocation {
		return text
	}
	return ""
}

// sameOrigin compares scheme, host and port (RFC 6454); a URL with a user has no origin here.
func sameOrigin(a, b *url.URL) bool {
	return a.User == nil && b.User == nil && a.Host != "" &&
		strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case strings.EqualFold(u.Scheme, "https"):
		return "443"
	}
	return "80"
}

// retryAfter reads Retry-After (RFC 9110, 10.2.3): seconds, or a date, which is compared with the receiver's own
// Date where it sends one, so that no two clocks are compared. 0: none, or none that can be read.
func retryAfter(headers http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(headers.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(maxRetryAfter/time.Second))) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(headers.Get("Date")); err == nil {
		now = date
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}
