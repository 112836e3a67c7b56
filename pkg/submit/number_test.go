package submit

import (
	"strings"
	"testing"
)

func TestParametersAsTheAPIServerStoresThem(t *testing.T) {
	for _, test := range []struct{ reason, given, want string }{
		{"members are sorted", `{"b": 1, "a": [true, null, "x"]}`, `{"a":[true,null,"x"],"b":1}`},
		{"64 bits are kept", `{"n": 9223372036854775807, "m": -9223372036854775808}`, `{"m":-9223372036854775808,"n":9223372036854775807}`},
		{"the same number, written otherwise", `{"n": 1.10, "m": 1e2}`, `{"m":100,"n":1.1}`},
		{"a whole number with a point", `{"n": 2.0}`, `{"n":2}`},
		{"zero", `{"n": -0.0, "m": 0}`, `{"m":0,"n":-0}`},
		{"nothing", `{}`, `{}`},
	} {
		got, err := asStored([]byte(test.given))
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %s, %v; want %s", test.reason, got, err, test.want)
		}
	}
	for _, test := range []struct{ reason, given, says string }{
		{"more than 64 bits", `{"a": {"b": [1, 9223372036854775808]}}`, "a.b[1]: the number 9223372036854775808 would be stored as"},
		{"more digits than a double has", `{"amount": 0.12345678901234567890}`, "amount: the number"},
		{"no object", `[1]`, "must be a JSON object"},
		{"null", `null`, "must be a JSON object"},
		{"no JSON", `{`, "no JSON"},
		{"two values", `{} {}`, "no JSON"},
	} {
		if _, err := asStored([]byte(test.given)); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v; want %s", test.reason, err, test.says)
		}
	}
}
