package httpcall

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
)

const (
	wholeBody = "${response.body}"
	// shortSecret is a length below which a Secret's value is not looked for in results: "1" is everywhere.
	shortSecret = 8
)

// secrets are the values of Secrets in one request. They are in no outcome.
type secrets []string

// forms are the ways in which the values may be repeated: as they are, and without a scheme ("Bearer …").
func (s secrets) forms() effect.Secrets {
	var forms effect.Secrets
	for _, value := range s {
		for _, form := range []string{value, value[strings.LastIndexByte(value, ' ')+1:]} {
			if len(form) >= shortSecret {
				forms = append(forms, form)
			}
		}
	}
	return forms
}

// in reports whether raw repeats one of the values, as text or inside a JSON string.
func (s secrets) in(raw []byte) bool { return s.forms().In(raw) }

// inURL reports whether a URL repeats one of the values, percent-encoded or not.
func (s secrets) inURL(text string) bool {
	decoded, err := url.QueryUnescape(text)
	return s.in([]byte(text)) || (err == nil && s.in([]byte(decoded)))
}

// redact takes the values out of a message: an expression's error may quote what the receiver repeated.
func (s secrets) redact(message string) string { return s.forms().Redact(message) }

// result makes an outcome's result of an answer. A nil tree means the whole body.
type result struct{ tree *expr.Tree }

// store gives the outcome its result. It never fails: what cannot be stored becomes a note, for an effect that was
// applied stays applied (hazard 26).
func (r result) store(outcome *effect.Outcome, a *answer, in expr.Input, values secrets) {
	contentType := mediaType(a)
	if r.tree == nil {
		outcome.StoreResult(a.body, contentType, a.truncated)
	} else if raw, err := r.tree.JSON(in); err != nil {
		note(outcome, a, "the result expression cannot be evaluated for this answer")
	} else {
		outcome.StoreResult(raw, "application/json", false)
	}
	if values.in(outcome.Result) {
		note(outcome, a, "withheld: the answer repeats the value of a Secret")
	}
}

// note stores what is known of the body in place of a result.
func note(outcome *effect.Outcome, a *answer, why string) {
	sum := sha256.Sum256(a.body)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	outcome.Result, _ = json.Marshal(effect.Note{
		Note: why, Size: len(a.body), Truncated: a.truncated, ContentType: mediaType(a), Digest: digest,
	})
	outcome.ResultDigest = digest
}

// mediaType is what the receiver called its body, cut to what a note should hold.
func mediaType(a *answer) string {
	contentType := a.header.Get("Content-Type")
	return contentType[:min(len(contentType), 128)]
}

// response returns the variable "response" of an answer.
func response(a *answer) map[string]any {
	headers := make(map[string]string, len(a.header))
	for name, values := range a.header {
		headers[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
	}
	return map[string]any{"status": int64(a.status), "headers": headers, "body": decoded(a.body)}
}

// decoded returns the JSON value of a body, or its text where it is none.
func decoded(body []byte) any {
	if value, err := expr.DecodeJSON(body); err == nil && len(bytes.TrimSpace(body)) > 0 {
		return value
	}
	if utf8.Valid(body) {
		return string(body)
	}
	return strings.ToValidUTF8(string(body), "\uFFFD")
}
