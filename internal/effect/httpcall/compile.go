package httpcall

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
)

const (
	defaultTimeout      = 30 * time.Second
	defaultRemembersFor = 24 * time.Hour
)

// compiler makes calls of templates.
type compiler struct{ client *client }

// compile implements effect.Compiler.
func (c *compiler) compile(namespace string, spec *v1alpha1.TaskTemplateSpec, env *expr.Env) (effect.Effect, effect.Traits, field.ErrorList) {
	root := field.NewPath("spec")
	path := root.Child("effect", "http")
	if spec.Effect.HTTP == nil {
		return nil, effect.Traits{}, field.ErrorList{field.Required(path, "this template has no HTTP effect")}
	}
	b := &builder{env: env, namespace: namespace}
	made := b.call(path, spec.Effect.HTTP)
	made.client = c.client
	if spec.Verification != nil {
		made.verification = b.verification(root.Child("verification"), spec.Verification)
	}
	if len(b.faults) > 0 {
		return nil, effect.Traits{}, b.faults
	}
	return made, traits(spec, made), nil
}

// traits tells the lifecycle what it must know.
func traits(spec *v1alpha1.TaskTemplateSpec, c *call) effect.Traits {
	t := effect.Traits{Timeout: c.timeout, ReplaySafe: c.idempotent, Prepares: true}
	if c.idempotent {
		t.RemembersFor = defaultRemembersFor
		if remembers := spec.Effect.HTTP.Receiver.RemembersFor; remembers != nil {
			t.RemembersFor = remembers.Duration
		}
	}
	if c.verification != nil {
		t.Verifies, t.VerifyTimeout = true, c.verification.timeout
		t.SettleAfter = spec.Verification.SettleAfter.Duration
	}
	return t
}

// builder compiles the parts of one template and collects what is wrong.
type builder struct {
	env       *expr.Env
	namespace string
	faults    field.ErrorList
}

func (b *builder) fault(path *field.Path, value string, err error) {
	b.faults = append(b.faults, field.Invalid(path, value, err.Error()))
}

func (b *builder) call(path *field.Path, spec *v1alpha1.HTTPEffect) *call {
	made := &call{
		idempotent: spec.Receiver.Idempotent, timeout: timeoutOf(spec.Timeout.Duration),
		request: b.request(path, &spec.HTTPRequest, http.MethodPost, expr.Params|expr.Submission),
		rules:   b.rules(path.Child("classify"), spec.Classify),
		result:  b.result(path.Child("result"), spec.Result),
	}
	if made.request.body == nil && made.request.method != http.MethodGet && made.request.method != http.MethodDelete {
		made.request.body = parameters
	}
	return made
}

func (b *builder) verification(path *field.Path, spec *v1alpha1.Verification) *verification {
	if len(spec.Classify) == 0 {
		b.faults = append(b.faults, field.Required(path.Child("classify"), "without a rule no answer can tell"))
	}
	return &verification{
		timeout: timeoutOf(spec.HTTP.Timeout.Duration),
		request: b.request(path.Child("http"), &spec.HTTP, http.MethodGet, expr.Params|expr.Submission|expr.Attempt),
		rules:   b.rules(path.Child("classify"), spec.Classify),
		result:  b.result(path.Child("result"), spec.Result),
	}
}

func timeoutOf(timeout time.Duration) time.Duration {
	if timeout <= 0 {
		return defaultTimeout
	}
	return timeout
}

var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// request compiles a request. The attempt's number is allowed in headers, and in the URL where inURL says so.
func (b *builder) request(path *field.Path, spec *v1alpha1.HTTPRequest, method string, inURL expr.Variables) template {
	t := template{method: method, namespace: b.namespace, field: path.String()}
	if spec.Method != "" {
		t.method = spec.Method
	}
	if !slices.Contains(methods, t.method) {
		b.faults = append(b.faults, field.NotSupported(path.Child("method"), t.method, methods))
	}
	if spec.URL == "" {
		b.faults = append(b.faults, field.Required(path.Child("url"), "a request goes somewhere"))
	} else if compiled, err := b.env.URL(spec.URL, inURL); err != nil {
		b.fault(path.Child("url"), spec.URL, err)
	} else {
		t.url = compiled
	}
	t.headers = b.headers(path.Child("headers"), spec.Headers)
	t.login = b.login(path.Child("auth"), spec)
	t.trust = b.trust(path.Child("tls"), spec)
	if spec.Body != nil {
		tree, err := b.env.Tree(spec.Body.Raw, expr.Params|expr.Submission)
		if err != nil {
			b.fault(path.Child("body"), string(spec.Body.Raw), err)
		}
		t.body = fromTree(tree)
	}
	return t
}

// reserved headers are the operator's, or frame the message. Expect would let a receiver answer before it has the
// body.
var reserved = []string{
	"idempotency-key", "taskonce-attempt", "traceparent", "host", "content-length", "transfer-encoding", "connection",
	"upgrade", "trailer", "te", "expect", "keep-alive", "proxy-connection",
}

func (b *builder) headers(path *field.Path, specs []v1alpha1.HTTPHeader) []header {
	var headers []header
	seen := map[string]bool{}
	for i := range specs {
		at, spec := path.Index(i), &specs[i]
		lower := strings.ToLower(spec.Name)
		switch {
		case !validHeaderName(spec.Name):
			b.faults = append(b.faults, field.Invalid(at.Child("name"), spec.Name, "is no name of a header"))
		case slices.Contains(reserved, lower):
			b.faults = append(b.faults, field.Forbidden(at.Child("name"), "this header is set by the operator"))
		case seen[lower]:
			b.faults = append(b.faults, field.Duplicate(at.Child("name"), spec.Name))
		}
		seen[lower] = true
		headers = append(headers, b.header(at, spec))
	}
	return headers
}

func (b *builder) header(at *field.Path, spec *v1alpha1.HTTPHeader) header {
	made := header{name: spec.Name}
	switch {
	case (spec.Value == nil) == (spec.ValueFrom == nil):
		b.faults = append(b.faults, field.Invalid(at, spec.Name, "exactly one of value and valueFrom is needed"))
	case spec.Value != nil:
		text, err := b.env.Text(*spec.Value, expr.Params|expr.Submission|expr.Attempt)
		if err != nil {
			b.fault(at.Child("value"), *spec.Value, err)
		}
		made.value = text
	default:
		made.secret = b.secret(at.Child("valueFrom"), spec.ValueFrom)
	}
	return made
}

func (b *builder) secret(at *field.Path, source *v1alpha1.ValueSource) *v1alpha1.SecretKeyRef {
	ref := source.SecretKeyRef
	if ref.Name == "" || ref.Key == "" {
		b.faults = append(b.faults, field.Required(at.Child("secretKeyRef"), "name and key are needed"))
	}
	return &ref
}

// login compiles who the receiver is told that calls. A header Authorization beside it would be a second answer.
func (b *builder) login(path *field.Path, spec *v1alpha1.HTTPRequest) *login {
	auth := spec.Auth
	if auth == nil {
		return nil
	}
	if slices.ContainsFunc(spec.Headers, func(h v1alpha1.HTTPHeader) bool { return strings.EqualFold(h.Name, "Authorization") }) {
		b.faults = append(b.faults, field.Forbidden(path, "the header Authorization is set already: use one of the two"))
	}
	switch {
	case (auth.Basic == nil) == (auth.Bearer == nil):
		b.faults = append(b.faults, field.Invalid(path, field.OmitValueType{}, "exactly one of basic and bearer is needed"))
		return nil
	case auth.Bearer != nil:
		return &login{bearer: b.secret(path.Child("bearer"), auth.Bearer)}
	}
	return &login{basic: b.secretName(path.Child("basic"), auth.Basic)}
}

func (b *builder) secretName(at *field.Path, source *v1alpha1.SecretSource) string {
	if source.SecretRef.Name == "" {
		b.faults = append(b.faults, field.Required(at.Child("secretRef", "name"), "the Secret has a name"))
	}
	return source.SecretRef.Name
}

func (b *builder) trust(path *field.Path, spec *v1alpha1.HTTPRequest) trust {
	var made trust
	if spec.TLS == nil {
		return made
	}
	if scheme, _, _ := strings.Cut(spec.URL, ":"); !strings.EqualFold(scheme, "https") {
		b.faults = append(b.faults, field.Forbidden(path, "the URL is not one of https"))
	}
	if spec.TLS.CA != nil {
		made.ca = b.secret(path.Child("ca"), spec.TLS.CA)
	}
	if spec.TLS.ClientCertificate != nil {
		made.certificate = b.secretName(path.Child("clientCertificate"), spec.TLS.ClientCertificate)
	}
	return made
}

func (b *builder) rules(path *field.Path, specs []v1alpha1.ClassifyRule) []rule {
	var rules []rule
	for i := range specs {
		at, spec := path.Index(i), &specs[i]
		when, err := b.env.Condition(spec.When, expr.Response|expr.Params|expr.Submission|expr.Attempt)
		if err != nil {
			b.fault(at.Child("when"), spec.When, err)
		}
		if !slices.Contains(outcomes, spec.Outcome) {
			b.faults = append(b.faults, field.NotSupported(at.Child("outcome"), spec.Outcome, outcomes))
		}
		rules = append(rules, rule{when: when, outcome: spec.Outcome})
	}
	return rules
}

var outcomes = []v1alpha1.Outcome{
	v1alpha1.OutcomeApplied, v1alpha1.OutcomeNotApplied, v1alpha1.OutcomeInProgress, v1alpha1.OutcomeUnknown,
}

// result compiles the expression of a result. The default needs none: the body is stored as it came.
func (b *builder) result(path *field.Path, text string) result {
	if trimmed := strings.TrimSpace(text); trimmed == "" || trimmed == wholeBody {
		return result{}
	}
	raw, err := json.Marshal(text)
	if err != nil {
		b.fault(path, text, err)
		return result{}
	}
	tree, err := b.env.Tree(raw, expr.Response|expr.Params|expr.Submission)
	if err != nil {
		b.fault(path, text, err)
	}
	return result{tree: tree}
}

// validHeaderName reports whether a name is a token (RFC 9110, 5.6.2).
func validHeaderName(name string) bool {
	const punctuation = "!#$%&'*+-.^_`|~"
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		alphanumeric := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !alphanumeric && !strings.ContainsRune(punctuation, r)
	})
}
