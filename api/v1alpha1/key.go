package v1alpha1

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxKeyBytes is the longest idempotency or business key, in bytes of UTF-8.
	MaxKeyBytes = 512

	// MaxNameLength is the longest name of a submission. It leaves room for suffixes (a Job's "-a12", a pod's
	// "-xxxxx") inside the 63 characters of a label value.
	MaxNameLength = 52

	hashLength = 26
	slugLength = MaxNameLength - 1 - hashLength
)

var (
	dnsLabel     = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	looksDerived = regexp.MustCompile(`(^|-)[a-z2-7]{26}$`)
	notSlug      = regexp.MustCompile(`[^a-z0-9]+`)
	base32Lower  = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
)

// KeyError says why a string cannot be a key. It is permanent: the same key fails the same way everywhere.
type KeyError struct {
	// Reason completes the sentence "the key …".
	Reason string
}

func (e *KeyError) Error() string { return "the key " + e.Reason }

// ValidateKey returns nil or a *KeyError. A key is 1 to MaxKeyBytes bytes of valid UTF-8 without control
// characters and without white space at either end. Keys are compared byte for byte: case counts, and two
// Unicode spellings of one letter are two keys.
func ValidateKey(key string) error {
	switch {
	case key == "":
		return &KeyError{"is empty; an idempotency key is the client's name for the action, such as grant-coupon-42"}
	case len(key) > MaxKeyBytes:
		return &KeyError{fmt.Sprintf("has %d bytes, and at most %d are allowed", len(key), MaxKeyBytes)}
	case !utf8.ValidString(key):
		return &KeyError{"is not valid UTF-8"}
	}
	for i, r := range key {
		if unicode.IsControl(r) {
			return &KeyError{fmt.Sprintf("has the control character %U at byte %d", r, i)}
		}
	}
	if strings.TrimSpace(key) != key {
		return &KeyError{"begins or ends with white space"}
	}
	return nil
}

// NameForKey returns the name of the submission that stands for an idempotency key: the key itself where it is
// a DNS label of at most MaxNameLength characters that does not look derived, and otherwise a readable slug with
// 130 bits of the key's SHA-256. It is total over valid keys and deterministic; the error is a *KeyError.
//
// The API server keeps names unique, so one key is at most one submission in a namespace (invariant I1).
func NameForKey(key string) (string, error) {
	if err := ValidateKey(key); err != nil {
		return "", err
	}
	if len(key) <= MaxNameLength && dnsLabel.MatchString(key) && !looksDerived.MatchString(key) {
		return key, nil
	}
	sum := sha256.Sum256([]byte(key))
	return slug(key) + "-" + shortHash(sum), nil
}

// slug makes what is readable in a key into the front part of a name; "k" where nothing is.
func slug(key string) string {
	lower := strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, key)
	s := strings.Trim(notSlug.ReplaceAllString(lower, "-"), "-")
	if len(s) > slugLength {
		s = strings.TrimRight(s[:slugLength], "-")
	}
	if s == "" {
		return "k"
	}
	return s
}

func shortHash(sum [sha256.Size]byte) string {
	return base32Lower.EncodeToString(sum[:])[:hashLength]
}

// RecordName returns the name of the TaskRecord that guards an idempotency key.
func RecordName(idempotencyKey string) string { return hashedName("ik", idempotencyKey) }

// ClaimName returns the name of the TaskRecord that holds a template's business key.
func ClaimName(template, businessKey string) string { return hashedName("bk", template, businessKey) }

// hashedName hashes prefix and parts with their lengths, so that ("a", "b-c") and ("a-b", "c") differ.
func hashedName(prefix string, parts ...string) string {
	h := sha256.New()
	for _, part := range append([]string{prefix}, parts...) {
		var length [4]byte
		binary.BigEndian.PutUint32(length[:], uint32(len(part)))
		h.Write(length[:])
		h.Write([]byte(part))
	}
	return prefix + "-" + shortHash([sha256.Size]byte(h.Sum(nil)))
}

var keyEscaper = strings.NewReplacer("%", "%25", ":", "%3A")

// Key joins parts into an idempotency key with ":". A "%" or ":" inside a part is escaped, so different parts
// never make the same key. The CEL function key(...) does the same.
func Key(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, part := range parts {
		escaped[i] = keyEscaper.Replace(part)
	}
	return strings.Join(escaped, ":")
}
