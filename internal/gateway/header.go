package gateway

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

const (
	headerKey      = "Idempotency-Key"
	headerReplayed = "Idempotency-Replayed"
)

// keyOf reads the header Idempotency-Key: a String as the draft has it, or a Display String for keys that ASCII cannot
// write (RFC 9651, sections 3.3.3 and 3.3.8).
func keyOf(lines []string) (string, *Problem) {
	if len(lines) > 1 {
		return "", problem(invalidKey, "the header Idempotency-Key comes more than once, so which key is meant is not known: send it once")
	}
	item, err := httpsfv.UnmarshalItem(lines)
	if err != nil {
		return "", problem(invalidKey, `the header Idempotency-Key must be a String in quotes, such as "grant-coupon-42"`)
	}
	var key string
	switch value := item.Value.(type) {
	case string:
		key = value
	case httpsfv.DisplayString:
		key = string(value)
	default:
		return "", problem(invalidKey, `the header Idempotency-Key must be a String in quotes, such as "grant-coupon-42", and is of another type`)
	}
	if err := v1alpha1.ValidateKey(key); err != nil {
		return "", problem(invalidKey, err.Error())
	}
	return key, nil
}

// preferredWait reads wait=N of the lines of the header Prefer (RFC 7240, section 2): names in any case, a value as a token
// or in quotes, and of several the first. What it does not understand is ignored, as that RFC asks for.
func preferredWait(lines []string) (wait time.Duration, stated bool) {
	for _, preference := range parted(strings.Join(lines, ","), ',') {
		preference = parted(preference, ';')[0] // without its parameters
		name, value, _ := strings.Cut(preference, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "wait") {
			continue
		}
		value = strings.TrimSpace(value)
		if inside, quoted := strings.CutPrefix(value, `"`); quoted {
			value = strings.TrimSuffix(inside, `"`)
		}
		seconds, err := strconv.ParseUint(value, 10, 30)
		if err != nil && !errors.Is(err, strconv.ErrRange) { // for ever is as long as can be
			return 0, false
		}
		return time.Duration(seconds) * time.Second, true
	}
	return 0, false
}

// parted splits a header at a separator that is not in quotes.
func parted(text string, separator rune) []string {
	quoted, escaped := false, false
	var parts []string
	begin := 0
	for i, letter := range text {
		switch {
		case escaped:
			escaped = false
		case quoted && letter == '\\':
			escaped = true
		case letter == '"':
			quoted = !quoted
		case letter == separator && !quoted:
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	return append(parts, text[begin:])
}
