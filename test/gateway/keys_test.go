package gateway_test

import (
	"slices"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// TestNothingIsSentTwiceByAHurry has many ask at once: one is first, and all get the same result.
func TestNothingIsSentTwiceByAHurry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("award", "/plain/points")
	const people = 12
	answers := make(chan answered, people)
	for range people {
		go func() {
			answers <- w.send(installation.passing, w.token, submits("task:42", "award", with("Prefer", "wait=60")))
		}()
	}
	var results []string
	first := 0
	for range people {
		got := <-answers
		if got.status != 201 {
			t.Fatalf("%d: %s", got.status, got.body)
		}
		if got.header.Get("Idempotency-Replayed") == "" {
			first++
		}
		results = append(results, string(got.said(t).Result))
	}
	if slices.Sort(results); first != 1 || results[0] != results[people-1] {
		t.Errorf("%d were first; the results are %q", first, slices.Compact(results))
	}
	name, _ := v1alpha1.NameForKey("task:42")
	if n := w.effects(name); n != 1 {
		t.Errorf("%d effects", n)
	}
}

// TestKeysOfOtherLetters come as Display Strings, and are found under the same key.
func TestKeysOfOtherLetters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("award", "/plain/points")
	w.expect(201, "", installation.passing, w.token, submits("x", "award", with("Idempotency-Key", `%"%e6%8f%90%e4%ba%a4:%e4%bb%bb%e5%8a%a142"`)))
	if found := w.expect(200, "", installation.passing, w.token, reads("?idempotencyKey=%E6%8F%90%E4%BA%A4:%E4%BB%BB%E5%8A%A142")); found.IdempotencyKey != "提交:任务42" {
		t.Errorf("%+v", found)
	}
}

// TestAKeyInQuotesIsAnother: whoever takes them over from the header is told so, and does not believe that nothing was submitted.
func TestAKeyInQuotesIsAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for query, want := range map[string]string{
		"nothing":   "nothing was submitted under this key",
		"%22a:b%22": "nothing was submitted under this key, whose quotes belong to it: ask for it without those of the header Idempotency-Key",
		"%22":       "nothing was submitted under this key",
	} {
		if got := w.expect(404, "not-found", installation.passing, w.token, reads("?idempotencyKey="+query)).Detail; got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
