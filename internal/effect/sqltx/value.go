package sqltx

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/taskonce/taskonce/internal/expr"
)

// asJSON writes a value that JSON knows: a number with no exponent where it can be, a list or an object.
func asJSON(value any) json.RawMessage {
	raw, err := expr.EncodeJSON(value)
	if err != nil {
		return null
	}
	return raw
}

var null = json.RawMessage(`null`)

// text is a value as the database writes it.
func text(value []byte) json.RawMessage {
	return asJSON(strings.ToValidUTF8(string(value), "\uFFFD"))
}

// bytesOf are bytes, in base64.
func bytesOf(value []byte) json.RawMessage { return asJSON(base64.StdEncoding.EncodeToString(value)) }

// verbatim is a number or a JSON value as it is, and text where JSON cannot say it: NaN, infinity.
func verbatim(value []byte) json.RawMessage {
	if json.Valid(value) {
		return bytes.Clone(value)
	}
	return text(value)
}

// clock reads a time in one of the layouts and writes it as RFC 3339 has it, and leaves what is none, such as
// infinity.
func clock(value []byte, read, write string) json.RawMessage {
	at, err := time.Parse(read, string(value))
	if err != nil {
		return text(value)
	}
	return asJSON(at.Format(write))
}

const (
	zoneless = "2006-01-02T15:04:05.999999999"
	spaced   = "2006-01-02 15:04:05.999999999"
)
