package httpcall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
)

const userAgent = "taskonce"

// template is a request whose strings hold expressions.
type template struct {
	method  string
	url     *expr.URL
	headers []header
	body    bodySource
	// login is nil where the template says none.
	login *login
	trust trust
	// namespace is where its Secrets are, and field where the template describes it.
	namespace, field string
}

// header has a value or a Secret's key.
type header struct {
	name   string
	value  *expr.Text
	secret *v1alpha1.SecretKeyRef
}

// bodySource makes the body of an attempt; nil: none. It is the same for every attempt (hazard 23).
type bodySource func(attempt effect.Attempt, in expr.Input) ([]byte, error)

// parameters are a body as they are stored, digit for digit.
func parameters(attempt effect.Attempt, _ expr.Input) ([]byte, error) {
	if len(bytes.TrimSpace(attempt.Parameters)) == 0 {
		return []byte("{}"), nil
	}
	return attempt.Parameters, nil
}

func fromTree(tree *expr.Tree) bodySource {
	return func(_ effect.Attempt, in expr.Input) ([]byte, error) { return tree.JSON(in) }
}

// invalidError says that the template and these parameters make no request. Trying again makes none either.
type invalidError struct{ message string }

func (e *invalidError) Error() string { return e.message }

func invalid(format string, arguments ...any) error {
	return &invalidError{fmt.Sprintf(format, arguments...)}
}

// input returns what the expressions of an attempt see.
func input(attempt effect.Attempt) (expr.Input, error) {
	attempt.Parameters, _ = parameters(attempt, expr.Input{})
	in, err := attempt.Input()
	if err != nil {
		return in, invalid("the parameters are not JSON")
	}
	return in, nil
}

// build makes the request, and returns the values of Secrets that are in it. An error is an *invalidError, an
// *effect.DependencyError, or the fault of reading a Secret.
func (t *template) build(ctx context.Context, c *client, attempt effect.Attempt, in expr.Input) (*http.Request, secrets, error) {
	url, err := t.url.Render(in)
	if err != nil {
		return nil, nil, invalid("the URL cannot be made: %v", err)
	}
	var body []byte
	if t.body != nil {
		if body, err = t.body(attempt, in); err != nil {
			return nil, nil, invalid("the body cannot be made: %v", err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, t.method, url, bytes.NewReader(body))
	if err != nil {
		return nil, nil, invalid("the URL is not valid")
	}
	request.Header.Set("User-Agent", userAgent)
	if t.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	values, err := t.setHeaders(ctx, c, request.Header, in)
	if err != nil {
		return nil, nil, err
	}
	return request, values, nil
}

// way returns how the request goes, with what its Secrets say of TLS.
func (t *template) way(ctx context.Context, c *client, deadline time.Time) (*way, error) {
	config, err := t.trust.config(ctx, c, t.namespace)
	if err != nil {
		return nil, err
	}
	return &way{deadline: deadline, tls: config, field: t.field}, nil
}

// setHeaders reads and sets the template's headers, its login among them.
func (t *template) setHeaders(ctx context.Context, c *client, headers http.Header, in expr.Input) (secrets, error) {
	var values secrets
	for _, h := range t.headers {
		value, err := h.read(ctx, c, t.namespace, in)
		if err != nil {
			return nil, err
		}
		if h.secret != nil {
			values = append(values, value)
		}
		headers.Set(h.name, value)
	}
	if t.login == nil {
		return values, nil
	}
	value, shown, err := t.login.read(ctx, c, t.namespace)
	if err != nil {
		return nil, err
	}
	headers.Set("Authorization", value)
	return append(values, shown...), nil
}

// read returns a header's value. No error holds the value of a Secret.
func (h *header) read(ctx context.Context, c *client, namespace string, in expr.Input) (string, error) {
	if h.secret == nil {
		value, err := h.value.String(in)
		if err != nil {
			return "", invalid("the header %s cannot be made: %v", h.name, err)
		}
		if !validHeaderValue(value) {
			return "", invalid("the header %s would hold a character that headers cannot hold", h.name)
		}
		return value, nil
	}
	return c.readForHeader(ctx, namespace, h.secret, h.name)
}

// readForHeader reads one key of a Secret that goes into a header.
func (c *client) readForHeader(ctx context.Context, namespace string, ref *v1alpha1.SecretKeyRef, header string) (string, error) {
	value, err := c.read(ctx, namespace, ref)
	if err != nil {
		return "", err
	}
	value = strings.TrimRight(value, "\r\n") // files that Secrets are made of end so, and no header can
	if !validHeaderValue(value) {
		return "", effect.Missing("the key %q of the Secret %q holds a character that the header %s cannot hold", ref.Key, ref.Name, header)
	}
	return value, nil
}

// read reads one key of a Secret. It passes on that the Secret is missing, and says of any other fault which one could
// not be read.
func (c *client) read(ctx context.Context, namespace string, ref *v1alpha1.SecretKeyRef) (string, error) {
	value, err := c.Secret.Key(ctx, namespace, ref.Name, ref.Key)
	var missing *effect.DependencyError
	if err != nil && !errors.As(err, &missing) {
		return "", fmt.Errorf("nothing was sent: the Secret %q cannot be read: %w", ref.Name, err)
	}
	return value, err
}

// validHeaderValue reports whether a value may stand in a header (RFC 9110, 5.5), in any encoding.
func validHeaderValue(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return (r < ' ' && r != '\t') || r == 0x7f })
}

// traceparent is the W3C Trace Context header of version 00 or later.
var traceparent = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[ -~]*)?$`)

// stamp sets what the operator alone says: the key that the receiver dedups by, the trace, and the number of the
// attempt, which is in a header and nowhere else.
func stamp(headers http.Header, attempt effect.Attempt) error {
	key, err := sfString(attempt.DownstreamKey)
	if err != nil {
		return err
	}
	headers.Set("Idempotency-Key", key)
	headers.Set("Taskonce-Attempt", strconv.Itoa(int(attempt.Number)))
	trace(headers, attempt)
	return nil
}

func trace(headers http.Header, attempt effect.Attempt) {
	if traceparent.MatchString(attempt.Traceparent) {
		headers.Set("Traceparent", attempt.Traceparent)
	}
}

var sfEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// sfString writes a structured-field String (RFC 9651, 4.1.6; RFC 8941 before it).
func sfString(text string) (string, error) {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", invalid("the downstream key cannot be sent as Idempotency-Key: it is empty or not printable ASCII")
	}
	return `"` + sfEscaper.Replace(text) + `"`, nil
}
