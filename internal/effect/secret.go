package effect

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
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
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	text := bytes.TrimSpace(raw.Bytes())
	return text[1 : len(text)-1]
}
