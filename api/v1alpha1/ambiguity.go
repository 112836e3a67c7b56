package v1alpha1

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// CheckJSON says why a JSON value would be stored as another one, or read as another one by somebody else, without anybody being
// told: a name that comes twice in an object, of which most readers take the last; and text that is no Unicode, in whose place
// they put U+FFFD. So two different texts would come out as one. Numbers are another question.
func CheckJSON(raw []byte) error {
	switch {
	case !utf8.Valid(raw):
		return errors.New("the text is not UTF-8")
	case !json.Valid(raw): // which also bounds the depth
		return errors.New("no JSON")
	case loneSurrogate(raw):
		return errors.New("an escape names half a character: a surrogate without the other one")
	}
	return twice(json.NewDecoder(bytes.NewReader(raw)))
}

// twice returns an error where a name comes twice in an object of the next value.
func twice(decoder *json.Decoder) error {
	token, err := decoder.Token()
	open, ok := token.(json.Delim)
	if err != nil || !ok {
		return err
	}
	names := map[string]bool{}
	for decoder.More() {
		if open == '{' {
			token, err := decoder.Token()
			if err != nil {
				return err
			}
			name, _ := token.(string)
			if names[name] {
				return fmt.Errorf("the name %q comes twice in an object", name)
			}
			names[name] = true
		}
		if err := twice(decoder); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}

// loneSurrogate reports whether an escape in valid JSON is half of a pair that is not there.
func loneSurrogate(raw []byte) bool {
	for at := bytes.IndexByte(raw, '\\'); at >= 0 && at < len(raw); {
		first, size := escaped(raw[at:])
		if utf16.IsSurrogate(first) {
			second, more := escaped(raw[at+size:])
			if utf16.DecodeRune(first, second) == utf8.RuneError {
				return true
			}
			size += more
		}
		at += size
		next := bytes.IndexByte(raw[at:], '\\')
		if next < 0 {
			return false
		}
		at += next
	}
	return false
}

// escaped returns the code unit that an escape at the beginning of a text names with four digits, and how long the escape is; no
// unit, where it is another escape or none.
func escaped(text []byte) (unit rune, size int) {
	if !bytes.HasPrefix(text, []byte(`\u`)) || len(text) < 6 {
		return 0, min(2, len(text))
	}
	number, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return 0, 2
	}
	return rune(number), 6
}
