package main

import (
	"errors"
	"strings"
)

// decodeKey reads an Idempotency-Key, which is a structured-field string (RFC 9651, section 3.3.3): printable ASCII
// in double quotes, in which a backslash stands before a quote or a backslash.
func decodeKey(header string) (string, error) {
	quoted := strings.Trim(header, " ")
	if len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
		return "", errors.New("the header Idempotency-Key must be a string in double quotes")
	}
	var key strings.Builder
	inner := quoted[1 : len(quoted)-1]
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case c < ' ' || c > '~' || c == '"':
			return "", errors.New("the header Idempotency-Key has a character that a quoted string cannot have")
		case c == '\\':
			i++
			if i == len(inner) || (inner[i] != '"' && inner[i] != '\\') {
				return "", errors.New("the header Idempotency-Key has a backslash before neither a quote nor a backslash")
			}
		}
		key.WriteByte(inner[i])
	}
	if key.Len() == 0 {
		return "", errors.New("the header Idempotency-Key is empty")
	}
	return key.String(), nil
}
