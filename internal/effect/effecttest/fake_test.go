package effecttest

import (
	"context"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

func TestAHeldAttemptHonoursItsContext(t *testing.T) {
	for name, c := range map[string]struct {
		hold func(Step, <-chan struct{}) Step
		want v1alpha1.Outcome
	}{
		"before sending nothing is lost": {Step.HeldBefore, ""},
		"after sending nobody knows":     {Step.HeldAfter, v1alpha1.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			fake := New()
			fake.On(1, c.hold(Applies("{}"), make(chan struct{})))
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				_, _ = fake.Await(t.Context(), Execute, 1)
				cancel()
			}()
			outcome, err := fake.Execute(ctx, NewAttempt(1))
			if outcome.Kind != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %+v and %v", outcome, err)
			}
		})
	}
}

func TestAReleasedAttemptGoesOn(t *testing.T) {
	fake, release := New(), make(chan struct{})
	fake.OnSubmission("award-42", 1, Applies("{}").HeldBefore(release))
	go func() {
		_, _ = fake.Await(t.Context(), Execute, 1)
		close(release)
	}()
	outcome, err := fake.Execute(t.Context(), NewAttempt(1))
	if err != nil || outcome.Kind != v1alpha1.OutcomeApplied || fake.Effects("shop/award-42") != 1 {
		t.Errorf("got %+v and %v", outcome, err)
	}
}

func TestAReplaySafeFakeAppliesOnce(t *testing.T) {
	fake := New()
	fake.SetTraits(effect.Traits{Timeout: time.Second, ReplaySafe: true})
	fake.On(1, LostAfter())
	_, _ = fake.Execute(t.Context(), NewAttempt(1))
	outcome, err := fake.Execute(t.Context(), NewAttempt(2))
	if err != nil || outcome.Kind != v1alpha1.OutcomeApplied || fake.Effects("shop/award-42") != 1 {
		t.Errorf("got %+v, %v and %d effects", outcome, err, fake.Effects("shop/award-42"))
	}
}

func TestVerificationSaysTheTruthUnlessTold(t *testing.T) {
	fake := New()
	fake.On(1, LostBefore())
	fake.On(2, LostAfter())
	for number, want := range map[int32]v1alpha1.Outcome{1: v1alpha1.OutcomeNotApplied, 2: v1alpha1.OutcomeApplied} {
		attempt := NewAttempt(number)
		attempt.DownstreamKey += "-" + string(want)
		_, _ = fake.Execute(t.Context(), attempt)
		if outcome, err := fake.Verify(t.Context(), attempt); err != nil || outcome.Kind != want {
			t.Errorf("attempt %d: got %+v and %v, want %s", number, outcome, err, want)
		}
	}
	fake.OnVerify(Answers(effect.Outcome{Kind: v1alpha1.OutcomeUnknown}, nil))
	if outcome, _ := fake.Verify(t.Context(), NewAttempt(2)); outcome.Kind != v1alpha1.OutcomeUnknown {
		t.Errorf("told otherwise it said %+v", outcome)
	}
}

func TestWhatWasAcceptedFinishesWhenToldTo(t *testing.T) {
	fake := New()
	fake.On(1, Accepted("/jobs/1"))
	attempt := NewAttempt(1)
	_, _ = fake.Execute(t.Context(), attempt)
	attempt.Location = "/jobs/1"
	before, _ := fake.Poll(t.Context(), attempt)
	fake.Finish(attempt.DownstreamKey)
	after, _ := fake.Poll(t.Context(), attempt)
	if before.Kind != v1alpha1.OutcomeInProgress || before.Location != "/jobs/1" || after.Kind != v1alpha1.OutcomeApplied {
		t.Errorf("got %+v, then %+v", before, after)
	}
}
