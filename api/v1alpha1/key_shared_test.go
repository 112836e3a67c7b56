package v1alpha1

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestKeysOfEveryClient holds Go to the keys that clients in other languages are held to.
func TestKeysOfEveryClient(t *testing.T) {
	text, err := os.ReadFile("../../clients/keys.json")
	if err != nil {
		t.Fatal(err)
	}
	type vector struct {
		Reason string
		Parts  []string
		Key    string
		Times  int
	}
	var vectors struct{ Built, Allowed, Refused []vector }
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Built) == 0 || len(vectors.Allowed) == 0 || len(vectors.Refused) == 0 {
		t.Fatal("there are no keys of some kind")
	}
	for _, v := range vectors.Built {
		if key := Key(v.Parts...); key != v.Key {
			t.Errorf("%s: Key(%q) = %q, want %q", v.Reason, v.Parts, key, v.Key)
		}
	}
	for _, v := range vectors.Allowed {
		if err := ValidateKey(strings.Repeat(v.Key, max(v.Times, 1))); err != nil {
			t.Errorf("%s: %v", v.Reason, err)
		}
	}
	for _, v := range vectors.Refused {
		if ValidateKey(strings.Repeat(v.Key, max(v.Times, 1))) == nil {
			t.Errorf("%s: it is allowed", v.Reason)
		}
	}
}
