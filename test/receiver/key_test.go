package main

import "testing"

func TestDecodeKey(t *testing.T) {
	for _, tt := range []struct{ reason, header, key string }{
		{"a plain key", `"team/grant-42"`, "team/grant-42"},
		{"escaped characters", `"a\"b\\c"`, `a"b\c`},
		{"white space around it", ` "k" `, "k"},
		{"white space inside it", `"a b"`, "a b"},
		{"no header", ``, ""},
		{"no quotes", `k`, ""},
		{"one quote", `"`, ""},
		{"an empty string", `""`, ""},
		{"a quote that is not escaped", `"a"b"`, ""},
		{"a backslash before something else", `"a\b"`, ""},
		{"a backslash at the end", `"a\"`, ""},
		{"a letter outside ASCII", `"ä"`, ""},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			key, err := decodeKey(tt.header)
			if key != tt.key || (err == nil) != (tt.key != "") {
				t.Errorf("decodeKey(%s) = %q, %v; want %q", tt.header, key, err, tt.key)
			}
		})
	}
}
