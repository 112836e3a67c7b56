package effecttest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

const hidden = "the-hidden-value"

// build returns a fake as a subject.
func build(_ *testing.T, behaviour Behaviour) *Subject {
	fake, key := New(), NewAttempt(1).DownstreamKey
	fake.SetDefault(map[Behaviour]Step{
		Apply:        Applies(`{"ok": true}`),
		Refuse:       Refuses("no"),
		Unreachable:  Fails(errors.New("no route")),
		LoseBefore:   LostBefore(),
		LoseAfter:    LostAfter(),
		Hang:         LostBefore().HeldAfter(make(chan struct{})),
		AnswerLarge:  Applies(`"` + strings.Repeat("x", effect.MaxResultBytes) + `"`),
		AnswerEmpty:  Applies(""),
		AnswerText:   Applies("thank you"),
		TellSecret:   Applies(`"withheld"`),
		RefuseSecret: Refuses("no"),
	}[behaviour])
	return &Subject{
		Effect: fake, Secret: hidden,
		Sent:    func() int { return fake.Sent(key) },
		Applied: func() int { return fake.Effects(key) },
		Reached: func(ctx context.Context) error { return fake.AwaitSent(ctx, key) },
	}
}

func TestConformance(t *testing.T) {
	Conform(t, World{Name: "fake", Build: build})
	Conform(t, World{Name: "fake that recognises keys", Build: func(t *testing.T, behaviour Behaviour) *Subject {
		subject := build(t, behaviour)
		fake := subject.Effect.(*Fake)
		fake.SetTraits(effect.Traits{ReplaySafe: true})
		subject.Dedups = DedupsKeys
		return subject
	}})
}

// TestTheSuiteBites shows that an effect which says something else than the truth does not pass.
func TestTheSuiteBites(t *testing.T) {
	says := func(outcome effect.Outcome) func(*Fake) {
		return func(fake *Fake) { fake.SetDefault(Step{Outcome: outcome}) }
	}
	leaks := Refuses("wrong password " + hidden)
	for _, c := range []struct {
		reason, name string
		change       func(*Fake)
	}{
		{"claims an effect", "lost before", says(effect.Outcome{Kind: v1alpha1.OutcomeApplied})},
		{"denies an effect", "lost after", func(f *Fake) { f.SetDefault(Step{Happens: true, Outcome: Busy("no").Outcome}) }},
		{"sends nothing", "applied", func(f *Fake) { f.SetDefault(Fails(errors.New("no"))) }},
		{"says nothing", "refused", says(effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Permanent: true})},
		{"loses the result", "applied", func(f *Fake) { f.SetDefault(Applies("")) }},
		{"keeps a large result", "result too large", func(f *Fake) {
			step := Applies("{}")
			step.Outcome.Result = []byte(`"` + strings.Repeat("x", effect.MaxResultBytes) + `"`)
			f.SetDefault(step)
		}},
		{"tells a secret", "secret in refusal", func(f *Fake) { f.SetDefault(leaks) }},
		{"tells a secret in the result", "secret in result", func(f *Fake) { f.SetDefault(Applies(`"` + hidden + `"`)) }},
		{"denies what happened", "verified lost after", func(f *Fake) {
			f.OnVerify(Answers(effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Message: "no"}, nil))
		}},
		{"denies what happened, to a person", "forbidden lost after", func(f *Fake) {
			f.OnForbid(Answers(effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Message: "no"}, nil))
		}},
		{"forbids nothing", "forbidden unseen", func(f *Fake) {
			f.OnForbid(Answers(effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Message: "done"}, nil))
		}},
		{"claims what did not happen", "verified unseen", func(f *Fake) { f.OnVerify(Answers(Applies("").Outcome, nil)) }},
		{"recognises keys, contrary to what it says", "key twice", func(f *Fake) { f.SetTraits(effect.Traits{ReplaySafe: true}) }},
	} {
		t.Run(c.reason, func(t *testing.T) {
			for _, found := range suite {
				if found.name != c.name {
					continue
				}
				subject := build(t, found.behaviour)
				c.change(subject.Effect.(*Fake))
				if found.judge(t.Context(), subject) == nil {
					t.Errorf("it passes %q", c.name)
				}
				return
			}
			t.Errorf("there is no case %q", c.name)
		})
	}
}
