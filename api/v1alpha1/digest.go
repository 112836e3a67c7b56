package v1alpha1

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// CanonicalJSON returns one JSON value in the form that digests are computed over: object members sorted by
// name, no white space, numbers with every digit that they were written with. Field order and white space make
// no difference, a changed digit does. (RFC 8785 would print numbers as doubles, and so fold large integers
// together; that rule is left out on purpose.) Empty input stands for null.
func CanonicalJSON(raw []byte) ([]byte, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return []byte("null"), nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("no JSON: something follows the value")
	}
	var canonical bytes.Buffer
	encoder := json.NewEncoder(&canonical)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(canonical.Bytes(), []byte("\n")), nil
}

// Digest returns "sha256:" and the hexadecimal SHA-256 of the value's canonical JSON.
func Digest(raw []byte) (string, error) {
	canonical, err := CanonicalJSON(raw)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// PayloadDigest returns the digest of what a submission asks for: its template and its parameters. It is the
// same whether the idempotency key was written or defaulted from the name, and absent parameters are an empty object.
func PayloadDigest(spec *TaskSubmissionSpec) (string, error) {
	parameters := spec.Parameters.Raw
	if len(parameters) == 0 {
		parameters = []byte("{}")
	}
	payload, err := json.Marshal(map[string]any{
		"templateRef": spec.TemplateRef,
		"parameters":  json.RawMessage(parameters),
	})
	if err != nil {
		return "", fmt.Errorf("parameters: %w", err)
	}
	return Digest(payload)
}
