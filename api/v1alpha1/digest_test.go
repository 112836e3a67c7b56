package v1alpha1

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestCanonicalJSON(t *testing.T) {
	for _, test := range []struct{ reason, raw, canonical string }{
		{"members are sorted", `{"b": 1, "a": {"d": 2, "c": 3}}`, `{"a":{"c":3,"d":2},"b":1}`},
		{"white space goes", " [ 1 ,\n\t2 ] ", `[1,2]`},
		{"the order of a list stays", `[2,1]`, `[2,1]`},
		{"every digit of a large integer stays", `9007199254740993`, `9007199254740993`},
		{"every digit of a long fraction stays", `0.10000000000000000001`, `0.10000000000000000001`},
		{"a number stays as it was written", `1.0`, `1.0`},
		{"an exponent too", `1e400`, `1e400`},
		{"no HTML escapes", `"<&>"`, `"<&>"`},
		{"an escape that is none in the end", `"\u0061"`, `"a"`},
		{"the last of two equal names counts", `{"a":1,"a":2}`, `{"a":2}`},
		{"nothing is null", ``, `null`},
		{"white space alone is null", " \n", `null`},
		{"null", `null`, `null`},
	} {
		canonical, err := CanonicalJSON([]byte(test.raw))
		if err != nil || string(canonical) != test.canonical {
			t.Errorf("%s: CanonicalJSON(%s) = %s, %v; want %s", test.reason, test.raw, canonical, err, test.canonical)
		}
	}
	for _, test := range []struct{ reason, raw, says string }{
		{"garbage", `{`, "no JSON"},
		{"something after it", `{} x`, "something follows the value"},
		{"another value after it", `1 2`, "something follows the value"},
		{"a stray bracket", `{}]`, "something follows the value"},
		{"a word", `yes`, "no JSON"},
	} {
		if _, err := CanonicalJSON([]byte(test.raw)); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", test.reason, err, test.says)
		}
		if digest, err := Digest([]byte(test.raw)); err == nil {
			t.Errorf("%s: Digest = %q", test.reason, digest)
		}
	}
}

func TestDigest(t *testing.T) {
	got, err := Digest([]byte(` { } `))
	if want := "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"; err != nil || got != want {
		t.Errorf("Digest({}) = %q, %v; want %q", got, err, want)
	}
}

func payload(t *testing.T, spec TaskSubmissionSpec) string {
	t.Helper()
	digest, err := PayloadDigest(&spec)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func TestPayloadDigestI6(t *testing.T) {
	spec := func(parameters string) TaskSubmissionSpec {
		return TaskSubmissionSpec{TemplateRef: TemplateRef{Name: "award"}, Parameters: apiextensionsv1.JSON{Raw: []byte(parameters)}}
	}
	first := spec(`{"id": 9007199254740993, "at": "x"}`)
	keyed := first
	keyed.IdempotencyKey = "some-key"
	other := first
	other.TemplateRef.Name = "another"
	for _, test := range []struct {
		reason string
		a, b   TaskSubmissionSpec
		same   bool
	}{
		{"order and white space do not matter", first, spec(`{"at":"x","id":9007199254740993}`), true},
		{"the key is no part of it", first, keyed, true},
		{"absent parameters are an empty object", spec(``), spec(` { } `), true},
		{"null is not an empty object", spec(`null`), spec(`{}`), false},
		{"one digit beyond 2^53 matters", first, spec(`{"at":"x","id":9007199254740992}`), false},
		{"the template matters", first, other, false},
		{"a number is no string", spec(`{"a":1}`), spec(`{"a":"1"}`), false},
	} {
		if same := payload(t, test.a) == payload(t, test.b); same != test.same {
			t.Errorf("%s: same payload digest: %v", test.reason, same)
		}
	}
	for _, raw := range []string{`{`, `{} {}`} {
		broken := spec(raw)
		if digest, err := PayloadDigest(&broken); err == nil {
			t.Errorf("PayloadDigest of %s = %q", raw, digest)
		}
	}
}

func TestSubmissionKeyI1(t *testing.T) {
	submission := &TaskSubmission{}
	submission.Name = "by-name"
	if submission.Key() != "by-name" {
		t.Errorf("without a key the name is it: %q", submission.Key())
	}
	submission.Spec.IdempotencyKey = "by:key"
	if submission.Key() != "by:key" {
		t.Errorf("a stated key is it: %q", submission.Key())
	}
}

func TestTerminalPhases(t *testing.T) {
	for phase, terminal := range map[Phase]bool{"": false, PhasePending: false, PhaseProcessing: false, PhaseSuccess: true, PhaseFailed: true} {
		if phase.Terminal() != terminal {
			t.Errorf("%q", phase)
		}
	}
	for _, test := range []struct {
		attempt Attempt
		open    bool
	}{{Attempt{}, false}, {Attempt{Number: 1}, true}, {Attempt{Number: 1, Outcome: OutcomeUnknown}, false}} {
		if test.attempt.Open() != test.open {
			t.Errorf("%+v", test.attempt)
		}
	}
}
