package gateway

import (
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

// preferredWait reads wait=N of the header Prefer (RFC 7240), whose syntax is that of a Dictionary. What it does not
// understand is ignored, as that RFC asks for.
func preferredWait(header string) (wait time.Duration, stated bool) {
	preferences, err := httpsfv.UnmarshalDictionary([]string{header})
	if err != nil {
		return 0, false
	}
	member, ok := preferences.Get("wait")
	if !ok {
		return 0, false
	}
	item, ok := member.(httpsfv.Item)
	if !ok {
		return 0, false
	}
	seconds, ok := item.Value.(int64)
	if !ok || seconds < 0 || seconds > 1<<30 {
		return 0, false
	}
	return time.Duration(seconds) * time.Second, true
}
