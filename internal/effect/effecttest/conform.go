package effecttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// Conform runs every case of the suite against a world, each as a subtest of its own: TestConformance/<world>/<case>.
// A test that calls it is named TestConformance, since that is what make conform runs and draws the table of.
func Conform(t *testing.T, world World) {
	t.Helper()
	t.Run(world.Name, func(t *testing.T) {
		for name := range world.Differs {
			if !slices.ContainsFunc(suite, func(c conformance) bool { return c.name == name }) {
				t.Errorf("the world differs in a case that there is not: %q", name)
			}
		}
		for _, c := range suite {
			t.Run(c.name, func(t *testing.T) {
				if differs, ok := world.Differs[c.name]; ok {
					c.reason, c.want = differs.Reason, differs
				}
				if err := c.judge(t.Context(), world.Build(t, c.behaviour)); err != nil {
					t.Errorf("%s: %v", c.reason, err)
				}
			})
		}
	})
}

// judge plays the case and returns what is wrong.
func (c *conformance) judge(ctx context.Context, subject *Subject) error {
	var all error
	for i, answer := range c.play(ctx, subject) {
		if err := errors.Join(c.want.judge(answer), conceals(subject, answer)); err != nil {
			all = errors.Join(all, fmt.Errorf("answer %d: %w", i+1, err))
		}
	}
	if got := subject.Sent(); c.want.Sent != Any && got != c.want.Sent {
		all = errors.Join(all, fmt.Errorf("the receiver saw %d requests, want %d", got, c.want.Sent))
	}
	want := c.want.Applied
	if c.times != nil {
		want = c.times(subject.Dedups)
	}
	if got := subject.Applied(); want != Any && got != want {
		all = errors.Join(all, fmt.Errorf("the effect happened %d times, want %d", got, want))
	}
	return all
}

// judge returns what is wrong with one answer.
func (e *Expectation) judge(answer answer) error {
	switch {
	case answer.err != nil && e.OrError:
		return nil
	case answer.err != nil:
		return fmt.Errorf("the error %w, want %s", answer.err, e.outcomes())
	case !slices.Contains(e.Outcomes, answer.outcome.Kind), answer.outcome.Permanent != e.Permanent:
		return fmt.Errorf("got %+v, want %s, permanent %t", answer.outcome, e.outcomes(), e.Permanent)
	}
	result := e.Result
	if result == nil {
		result = NoResult
	}
	return errors.Join(result(answer.outcome), Check(answer.outcome))
}

func (e *Expectation) outcomes() string {
	var names []string
	for _, kind := range e.Outcomes {
		names = append(names, string(kind))
	}
	return strings.Join(names, " or ")
}

// conceals returns an error where an answer tells the secret.
func conceals(subject *Subject, answer answer) error {
	told := fmt.Sprintf("%s %s %s", answer.outcome.Message, answer.outcome.Result, answer.outcome.Location)
	if answer.err != nil {
		told += answer.err.Error()
	}
	switch {
	case subject.Secret == "":
		return errors.New("the subject names no secret, so nobody sees whether it is kept")
	case strings.Contains(told, subject.Secret):
		return errors.New("the outcome tells a secret")
	}
	return nil
}

// answer is what one call came to.
type answer struct {
	outcome effect.Outcome
	err     error
}

// run executes an attempt, and asks for its progress until there is an end.
func (s *Subject) run(ctx context.Context, attempt effect.Attempt) answer {
	outcome, err := s.Effect.Execute(ctx, attempt)
	for err == nil && outcome.Kind == v1alpha1.OutcomeInProgress && s.Advance != nil {
		poller, ok := s.Effect.(effect.Poller)
		if !ok {
			return answer{err: errors.New("it is in progress, and the effect cannot be asked for the progress")}
		}
		s.Advance()
		attempt.Location = outcome.Location
		outcome, err = poller.Poll(ctx, attempt)
	}
	return answer{outcome, err}
}

// verify asks what became of all attempts. An effect that cannot be asked cannot tell.
func (s *Subject) verify(ctx context.Context) answer {
	verifier, ok := s.Effect.(effect.Verifier)
	if !ok {
		return answer{outcome: effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: "it cannot be asked"}}
	}
	outcome, err := verifier.Verify(ctx, NewAttempt(1))
	outcome.Permanent = false // a verification says what was, not what will be
	return answer{outcome, err}
}

// forbid has the first attempt refused from now on. An effect that has no way to that cannot tell.
func (s *Subject) forbid(ctx context.Context) answer {
	forbidder, ok := s.Effect.(effect.Forbidder)
	if !ok {
		return answer{outcome: effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: "nothing can be forbidden"}}
	}
	outcome, err := forbidder.Forbid(ctx, NewAttempt(1))
	return answer{outcome, err}
}
