package effecttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// NewAttempt returns an attempt of the submission shop/award-42, with a minute to go.
func NewAttempt(number int32) effect.Attempt {
	return effect.Attempt{
		Namespace: "shop", Name: "award-42", Key: "award-42", DownstreamKey: "shop/award-42", BusinessKey: "42/stu-7",
		Template: "award-points", PayloadDigest: "sha256:0000000000000000000000000000000000000000000000000000000000000042",
		Number: number, Deadline: time.Now().Add(time.Minute), Parameters: json.RawMessage(`{"id":42}`),
	}
}

// Check returns what is wrong with an outcome, whoever made it: a record must be able to hold it, and a person to
// read it.
func Check(outcome effect.Outcome) error {
	switch {
	case utf8.RuneCountInString(outcome.Message) > 512 || strings.ContainsAny(outcome.Message, "\r\n"):
		return fmt.Errorf("the message is no short line: %q", outcome.Message)
	case outcome.Permanent && outcome.Kind != v1alpha1.OutcomeNotApplied:
		return fmt.Errorf("%s is said to be permanent", outcome.Kind)
	case len(outcome.Result) > effect.MaxResultBytes:
		return fmt.Errorf("the result has %d bytes", len(outcome.Result))
	case len(outcome.Result) > 0 && !json.Valid(outcome.Result):
		return fmt.Errorf("the result is no JSON: %q", outcome.Result)
	case (len(outcome.Result) > 0) != strings.HasPrefix(outcome.ResultDigest, "sha256:"):
		return fmt.Errorf("a result and its digest go together: %q and %q", outcome.Result, outcome.ResultDigest)
	case len(outcome.Result) > 0 && outcome.Kind != v1alpha1.OutcomeApplied:
		return fmt.Errorf("%s has a result", outcome.Kind)
	case outcome.Kind != v1alpha1.OutcomeApplied && outcome.Message == "":
		return fmt.Errorf("%s says nothing to a person", outcome.Kind)
	}
	return nil
}

// AnyResult is satisfied with any result, and none.
func AnyResult(effect.Outcome) error { return nil }

// NoResult wants an outcome without a result.
func NoResult(outcome effect.Outcome) error {
	if len(outcome.Result) > 0 {
		return fmt.Errorf("got the result %s, want none", outcome.Result)
	}
	return nil
}

// ResultIs wants exactly this JSON.
func ResultIs(want string) func(effect.Outcome) error {
	return func(outcome effect.Outcome) error {
		if !bytes.Equal(outcome.Result, []byte(want)) {
			return fmt.Errorf("got the result %s, want %s", outcome.Result, want)
		}
		return nil
	}
}

// ResultNotes wants a note in place of the result, which says this.
func ResultNotes(want string) func(effect.Outcome) error {
	return func(outcome effect.Outcome) error {
		var note effect.Note
		if err := json.Unmarshal(outcome.Result, &note); err != nil || note.Note != want {
			return fmt.Errorf("got the result %.200s, want the note %q", outcome.Result, want)
		}
		return nil
	}
}
