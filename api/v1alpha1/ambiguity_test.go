package v1alpha1

import (
	"strings"
	"testing"
)

// TestCheckJSON: two texts that are different do not come out as one.
func TestCheckJSON(t *testing.T) {
	for _, test := range []struct{ reason, raw, says string }{
		{"nothing is wrong", `{"a": [{"b": 1}, {"b": "\u00e9 \ud83d\ude00 \\ud800 \ufffd"}], "A": {"a": null}}`, ""},
		{"a value alone", ` "a" `, ""},
		{"a name comes twice", `{"a": 1, "a": 1}`, `"a" comes twice`},
		{"in other letters of JSON", `{"a": 1, "\u0061": 2}`, `"a" comes twice`},
		{"further down", `[{"b": {"a": 1, "b": 2, "a": 3}}]`, `"a" comes twice`},
		{"bytes that are no text", "{\"a\": \"\xff\"}", "not UTF-8"},
		{"the first half of a character", `"\ud83d"`, "half a character"},
		{"the first half, and another escape", `"\ud83d\n"`, "half a character"},
		{"the first half, and text", `"\ud83dude00"`, "half a character"},
		{"the second half", `"a\\\ude00"`, "half a character"},
		{"the second half first", `"\ude00\ud83d"`, "half a character"},
		{"half of a name", `{"\uD83D": 1}`, "half a character"},
		{"it is no JSON", `{"a": 1} x`, "no JSON"},
		{"nothing", ``, "no JSON"},
		{"too deep to be looked at", strings.Repeat("[", 1<<20), "no JSON"},
	} {
		if err := CheckJSON([]byte(test.raw)); err == nil != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", test.reason, err, test.says)
		}
	}
}
