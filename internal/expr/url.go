package expr

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// URL is an http or https address whose path and query may hold expressions, compiled. It is immutable and safe for
// concurrent use.
type URL struct {
	text *Text
	host string
}

// placeholder stands for an expression where the rest of a URL is checked. It is no hexadecimal digit, so a "%" in
// front of an expression is found out.
const placeholder = "x"

// URL compiles an address. Scheme and host are constant: an expression may not stand before the path. The address has
// neither credentials (they would be in logs; a header can come from a Secret) nor a fragment (it is never sent).
func (e *Env) URL(text string, allowed Variables) (*URL, error) {
	t, err := e.Text(text, allowed)
	if err != nil {
		return nil, err
	}
	if err := authorityIsConstant(t); err != nil {
		return nil, err
	}
	var sample strings.Builder
	for _, p := range t.pieces {
		if p.expression != nil {
			sample.WriteString(placeholder)
		}
		sample.WriteString(p.literal)
	}
	parsed, err := url.Parse(sample.String())
	switch {
	case err != nil:
		return nil, fmt.Errorf("is no URL (with %q for each expression): %w", placeholder, errors.Unwrap(err))
	case parsed.Scheme != "http" && parsed.Scheme != "https":
		return nil, errors.New("must begin with http:// or https://")
	case parsed.Hostname() == "":
		return nil, errors.New("has no host")
	case parsed.User != nil:
		return nil, errors.New("has credentials, which would be in logs: put them into a header, with valueFrom")
	case strings.Contains(sample.String(), "#"):
		return nil, errors.New("has a fragment (#…), which is never sent: leave it out, or write %23")
	}
	if err := noDots(parsed.EscapedPath()); err != nil {
		return nil, err
	}
	return &URL{text: t, host: parsed.Host}, nil
}

// authorityIsConstant checks that the literal in front of the first expression reaches beyond the host.
func authorityIsConstant(t *Text) error {
	if !slices.ContainsFunc(t.pieces, func(p piece) bool { return p.expression != nil }) {
		return nil
	}
	_, rest, found := strings.Cut(t.pieces[0].literal, "://")
	if !found || !strings.ContainsAny(rest, "/?#") {
		return errors.New("scheme, host and user cannot hold expressions: they may begin after the host's /, as in https://pay.example/charges/${params.id}")
	}
	return nil
}

// noDots refuses the path segments "." and "..": receivers and proxies resolve them, also where they are encoded, and
// so the request would go somewhere else.
func noDots(escapedPath string) error {
	for segment := range strings.SplitSeq(escapedPath, "/") {
		decoded, err := url.PathUnescape(segment)
		// A "/" or "\" that is encoded is one to receivers that decode before they resolve.
		dots := slices.ContainsFunc(strings.FieldsFunc(decoded, func(r rune) bool { return r == '/' || r == '\\' }), func(part string) bool {
			part, _, _ = strings.Cut(part, ";")
			return part == "." || part == ".."
		})
		if err != nil || dots {
			return fmt.Errorf("has the path segment %q, which leads to another path", segment)
		}
	}
	return nil
}

// Render evaluates. The value of each expression is percent-encoded, "/" too, so it stays inside its path segment or
// query value. In the path an empty value, and one that makes a segment "." or "..", is an error: the request would go to
// another resource.
func (u *URL) Render(in Input) (string, error) {
	values, err := u.text.env.bind(in, u.text.uses)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	inPath := true
	for _, p := range u.text.pieces {
		text := p.literal
		if p.expression != nil {
			if text, err = p.expression.text(values, escapeFor(inPath)); err != nil {
				return "", err
			}
		}
		inPath = inPath && !strings.Contains(p.literal, "?")
		out.WriteString(text)
		if out.Len() > MaxOutputBytes {
			return "", fmt.Errorf("the URL %w", errTooLarge)
		}
	}
	parsed, err := url.Parse(out.String())
	if err != nil {
		return "", fmt.Errorf("the URL cannot be parsed: %w", errors.Unwrap(err))
	}
	if err := noDots(parsed.EscapedPath()); err != nil {
		return "", fmt.Errorf("the URL %w", err)
	}
	return out.String(), nil
}

func escapeFor(inPath bool) func(string) (string, error) {
	return func(text string) (string, error) {
		if inPath && text == "" {
			return "", errors.New("is empty, and in a path that is another resource: require a value with minLength in parametersSchema")
		}
		return strings.ReplaceAll(url.QueryEscape(text), "+", "%20"), nil
	}
}

// Host returns the host of the address as it is written: with the port where there is one. It holds no expression.
func (u *URL) Host() string { return u.host }
