package effect_test

import (
	"encoding/json"
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// TestAResultIsWhatComesBack: what is stored reads the same after the API server's numbers, and so has one digest.
func TestAResultIsWhatComesBack(t *testing.T) {
	for _, c := range []struct{ received, stored, reason string }{
		{`{"b": 9.90, "a": [1.0, -0, 1e2]}`, `{"a":[1,0,100],"b":9.9}`, "the same numbers, as they are stored"},
		{`9223372036854775807`, `9223372036854775807`, "64 bits are kept"},
		{`12345678901234567890`, `"12345678901234567890"`, "a receipt's number is not rounded"},
		{`[0.1, 0.10000000000000001, 0.30000000000000004, 123456789012345.67]`, `[0.1,0.1,0.30000000000000004,123456789012345.67]`, "what is printed of a double is one"},
		{`0.1234567890123456789`, `"0.1234567890123456789"`, "a decimal with more digits than a double has"},
		{`{"x": 1e400}`, `{"x":"1e400"}`, "beyond a double: the API server could not read it"},
		{`[1e-400, 1e999999999999999999999, 1e-999999999999999999999]`, `["1e-400","1e999999999999999999999","1e-999999999999999999999"]`, "never computed"},
		{`[1E+2, 1e21, 0.000]`, `[100,1e+21,0]`, "exponents and zeros"},
		{`"<&>"`, `"<&>"`, "text as it is"},
	} {
		var o effect.Outcome
		o.StoreResult([]byte(c.received), "", false)
		if string(o.Result) != c.stored {
			t.Errorf("%s: %s is stored as %s, want %s", c.reason, c.received, o.Result, c.stored)
		}
		if back := throughTheAPIServer(t, o.Result); back != o.ResultDigest {
			t.Errorf("%s: the digest of what comes back is not that of %s", c.reason, o.Result)
		}
	}
}

func throughTheAPIServer(t *testing.T, result []byte) (digest string) {
	t.Helper()
	var value map[string]any
	if err := utiljson.Unmarshal([]byte(`{"result":`+string(result)+`}`), &value); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(value["result"])
	if err != nil {
		t.Fatal(err)
	}
	if digest, err = v1alpha1.Digest(raw); err != nil {
		t.Fatal(err)
	}
	return digest
}

func TestWhatIsNoResultLeavesANote(t *testing.T) {
	for _, c := range []struct {
		received  string
		truncated bool
		note      string
	}{
		{strings.Repeat("[", 9000) + "1" + strings.Repeat("]", 9000), false, "too large"},
		{`{"cut": `, true, "too large"},
		{`<html>`, false, "not JSON"},
		{`1 2`, false, "not JSON"},
		{" \n", false, ""},
	} {
		var o effect.Outcome
		o.StoreResult([]byte(c.received), "text/plain", c.truncated)
		var note effect.Note
		_ = json.Unmarshal(o.Result, &note)
		if note.Note != c.note || note.Digest != o.ResultDigest {
			t.Errorf("of %.20q is stored %s, want the note %q", c.received, o.Result, c.note)
		}
	}
}
