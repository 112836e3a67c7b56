package effect

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/taskonce/taskonce/internal/expr"
)

// Secrets are texts that must be in no outcome. None is so short that it is everywhere.
type Secrets []string

// In reports whether raw repeats one of them, as text or inside a JSON string.
func (s Secrets) In(raw []byte) bool {
	return slices.ContainsFunc(s, func(value string) bool {
		return bytes.Contains(raw, []byte(value)) || bytes.Contains(raw, quoted(value))
	})
}

// Redact takes them out of a message.
func (s Secrets) Redact(message string) string {
	for _, value := range s {
		message = strings.ReplaceAll(message, value, "[withheld]")
	}
	return message
}

// quoted is how a value stands inside a JSON string.
func quoted(value string) []byte {
	text, _ := expr.EncodeJSON(value) // any string can be
	return text[1 : len(text)-1]
}

// SecretReader reads all keys of one Secret, live. A *DependencyError says that it is missing.
type SecretReader func(ctx context.Context, namespace, name string) (map[string][]byte, error)

// Key reads one key. A *DependencyError says that the Secret, or the key in it, is missing.
func (r SecretReader) Key(ctx context.Context, namespace, name, key string) (string, error) {
	data, err := r(ctx, namespace, name)
	if err != nil {
		return "", err
	}
	value, ok := data[key]
	if !ok {
		return "", Missing("the Secret %q has no key %q: add it", name, key)
	}
	return string(value), nil
}

// Once returns a reader for one attempt: it reads each Secret once, so that the keys which go together, as user and
// password, are of one state of it. It is for one goroutine.
func (r SecretReader) Once() SecretReader {
	type secret struct{ namespace, name string }
	held := map[secret]map[string][]byte{}
	return func(ctx context.Context, namespace, name string) (map[string][]byte, error) {
		data, known := held[secret{namespace, name}]
		if known {
			return data, nil
		}
		data, err := r(ctx, namespace, name)
		if err == nil {
			held[secret{namespace, name}] = data
		}
		return data, err
	}
}
