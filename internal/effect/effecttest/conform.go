package effecttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// Behaviour is what a receiver does with every request.
type Behaviour string

// The behaviours that a subject's receiver must be able to show.
const (
	// Apply: the effect happens and the answer says so, with the result {"ok":true}.
	Apply Behaviour = "apply"
	// Refuse: the effect does not happen, and the answer says that it never will.
	Refuse Behaviour = "refuse"
	// Unreachable: nothing can be sent.
	Unreachable Behaviour = "unreachable"
	// LoseBefore: the request arrives, the effect does not happen, and no answer comes.
	LoseBefore Behaviour = "lose before the effect"
	// LoseAfter: the effect happens, and no answer comes.
	LoseAfter Behaviour = "lose after the effect"
	// AnswerLarge: as Apply, with a result of more than effect.MaxResultBytes.
	AnswerLarge Behaviour = "answer large"
	// AnswerEmpty: as Apply, without a result.
	AnswerEmpty Behaviour = "answer empty"
	// AnswerText: as Apply, with a result that is no JSON.
	AnswerText Behaviour = "answer text"
)

// Subject is an effect and its receiver.
type Subject struct {
	Effect effect.Effect
	// Sent returns how many requests the receiver has seen, and Applied how often the effect has happened.
	Sent, Applied func() int
}

// conformance is one case: what an attempt comes to, and what the receiver has seen of it.
type conformance struct {
	name, reason string
	behaviour    Behaviour
	// context and deadline of the attempt; nil and 0: neither cancelled nor short.
	context  func() context.Context
	deadline time.Duration
	times    int

	want          v1alpha1.Outcome
	permanent     bool
	orError       bool
	sent, applied int
	result        func(effect.Outcome) error
}

var suite = []conformance{
	{
		name: "applied", reason: "an answer that says so is believed, and its result is kept",
		behaviour: Apply, want: v1alpha1.OutcomeApplied, sent: 1, applied: 1, result: exactly(`{"ok":true}`),
	},
	{
		name: "refused", reason: "an answer that says that nothing happened, and never will",
		behaviour: Refuse, want: v1alpha1.OutcomeNotApplied, permanent: true, sent: 1, result: none,
	},
	{
		name: "nothing sent", reason: "what certainly never left may be tried again",
		behaviour: Unreachable, want: v1alpha1.OutcomeNotApplied, orError: true, result: none,
	},
	{
		name: "answer lost before the effect", reason: "the caller cannot know that nothing happened",
		behaviour: LoseBefore, want: v1alpha1.OutcomeUnknown, sent: 1, result: none,
	},
	{
		name: "answer lost after the effect", reason: "the caller cannot know that it happened",
		behaviour: LoseAfter, want: v1alpha1.OutcomeUnknown, sent: 1, applied: 1, result: none,
	},
	{
		name: "executed twice", reason: "whether an attempt may run again is for the lifecycle to say, not for the effect",
		behaviour: Apply, times: 2, want: v1alpha1.OutcomeApplied, sent: 2, applied: -1, result: exactly(`{"ok":true}`),
	},
	{
		name: "cancelled before", reason: "on shutdown nothing new leaves",
		behaviour: Apply, context: cancelled, want: v1alpha1.OutcomeNotApplied, orError: true, result: none,
	},
	{
		name: "deadline over before", reason: "another process may run the next attempt by now (hazard 5)",
		behaviour: Apply, deadline: -time.Second, want: v1alpha1.OutcomeNotApplied, orError: true, result: none,
	},
	{
		name: "result too large", reason: "a result never blocks its phase (I9)",
		behaviour: AnswerLarge, want: v1alpha1.OutcomeApplied, sent: 1, applied: 1, result: noted("too large"),
	},
	{
		name: "result empty", reason: "applied without a result is applied",
		behaviour: AnswerEmpty, want: v1alpha1.OutcomeApplied, sent: 1, applied: 1, result: none,
	},
	{
		name: "result not JSON", reason: "a record holds JSON only",
		behaviour: AnswerText, want: v1alpha1.OutcomeApplied, sent: 1, applied: 1, result: noted("not JSON"),
	},
}

// Conform runs the cases that every effect passes. make returns a new subject whose receiver behaves as it is told.
func Conform(t *testing.T, build func(t *testing.T, behaviour Behaviour) Subject) {
	t.Helper()
	for _, c := range suite {
		t.Run(c.name, func(t *testing.T) {
			subject := build(t, c.behaviour)
			for range max(c.times, 1) {
				c.run(t, subject)
			}
			if got := subject.Sent(); got != c.sent {
				t.Errorf("%s: the receiver saw %d requests, want %d", c.reason, got, c.sent)
			}
			if got := subject.Applied(); c.applied >= 0 && got != c.applied {
				t.Errorf("%s: the effect happened %d times, want %d", c.reason, got, c.applied)
			}
		})
	}
}

func (c *conformance) run(t *testing.T, subject Subject) {
	t.Helper()
	ctx := t.Context()
	if c.context != nil {
		ctx = c.context()
	}
	deadline := c.deadline
	if deadline == 0 {
		deadline = time.Minute
	}
	attempt := NewAttempt(1)
	attempt.Deadline = time.Now().Add(deadline)
	outcome, err := subject.Effect.Execute(ctx, attempt)
	if err != nil && c.orError {
		return
	}
	if err != nil || outcome.Kind != c.want || outcome.Permanent != c.permanent {
		t.Errorf("%s: got %+v and the error %v, want %s, permanent %t", c.reason, outcome, err, c.want, c.permanent)
	}
	if err := errors.Join(c.result(outcome), Check(outcome)); err != nil {
		t.Errorf("%s: %v", c.reason, err)
	}
}

// NewAttempt returns an attempt of the submission shop/award-42, with a minute to go.
func NewAttempt(number int32) effect.Attempt {
	return effect.Attempt{
		Namespace: "shop", Name: "award-42", Key: "award-42", DownstreamKey: "shop/award-42", BusinessKey: "42/stu-7",
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

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func none(outcome effect.Outcome) error {
	if len(outcome.Result) > 0 {
		return fmt.Errorf("got the result %s, want none", outcome.Result)
	}
	return nil
}

func exactly(want string) func(effect.Outcome) error {
	return func(outcome effect.Outcome) error {
		if !bytes.Equal(outcome.Result, []byte(want)) {
			return fmt.Errorf("got the result %s, want %s", outcome.Result, want)
		}
		return nil
	}
}

func noted(want string) func(effect.Outcome) error {
	return func(outcome effect.Outcome) error {
		var note effect.Note
		if err := json.Unmarshal(outcome.Result, &note); err != nil || note.Note != want {
			return fmt.Errorf("got the result %.200s, want the note %q", outcome.Result, want)
		}
		return nil
	}
}
