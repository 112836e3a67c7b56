package effecttest

import (
	"context"
	"fmt"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

const (
	applied    = v1alpha1.OutcomeApplied
	notApplied = v1alpha1.OutcomeNotApplied
	unknown    = v1alpha1.OutcomeUnknown
)

// conformance is one case: what is played with a receiver, and what that comes to.
type conformance struct {
	name, reason string
	behaviour    Behaviour
	play         func(ctx context.Context, subject *Subject) []answer
	want         Expectation
	// times is how often the effect happens, where that depends on what the receiver recognises.
	times func(Dedup) int
}

func one(outcome v1alpha1.Outcome) []v1alpha1.Outcome { return []v1alpha1.Outcome{outcome} }

// suite is what every effect passes.
var suite = []conformance{
	{
		name: "applied", reason: "an answer that says so is believed, and its result is kept",
		behaviour: Apply, play: once,
		want: Expectation{Outcomes: one(applied), Sent: 1, Applied: 1, Result: ResultIs(`{"ok":true}`)},
	},
	{
		name: "refused", reason: "an answer that says that nothing happened, and never will",
		behaviour: Refuse, play: once,
		want: Expectation{Outcomes: one(notApplied), Permanent: true, Sent: 1},
	},
	{
		name: "nothing sent", reason: "what certainly never left may be tried again",
		behaviour: Unreachable, play: once,
		want: Expectation{Outcomes: one(notApplied), OrError: true},
	},
	{
		name: "lost before", reason: "the answer was lost before the effect: the caller cannot know that nothing happened",
		behaviour: LoseBefore, play: once,
		want: Expectation{Outcomes: one(unknown), Sent: 1},
	},
	{
		name: "lost after", reason: "the answer was lost after the effect: the caller cannot know that it happened",
		behaviour: LoseAfter, play: once,
		want: Expectation{Outcomes: one(unknown), Sent: 1, Applied: 1},
	},
	{
		name: "attempt twice", reason: "whether an attempt may run again is for the lifecycle to say; what the receiver recognises happens once",
		behaviour: Apply, play: attempts(1, 1),
		want: Expectation{Outcomes: one(applied), Sent: Any, Result: ResultIs(`{"ok":true}`)},
		times: func(dedups Dedup) int {
			if dedups == DedupsNothing {
				return 2
			}
			return 1
		},
	},
	{
		name: "key twice", reason: "two attempts of one key are one to a receiver that recognises keys",
		behaviour: Apply, play: attempts(1, 2),
		want: Expectation{Outcomes: one(applied), Sent: Any, Result: ResultIs(`{"ok":true}`)},
		times: func(dedups Dedup) int {
			if dedups == DedupsKeys {
				return 1
			}
			return 2
		},
	},
	{
		name: "verified unseen", reason: "of a key that the receiver has never seen nothing was applied, and asking applies nothing",
		behaviour: Apply, play: verified,
		want: Expectation{Outcomes: []v1alpha1.Outcome{notApplied, unknown}, OrError: true, Sent: Any},
	},
	{
		name: "verified lost after", reason: "what has happened is never denied",
		behaviour: LoseAfter, play: lostAndVerified,
		want: Expectation{Outcomes: []v1alpha1.Outcome{applied, unknown}, Sent: Any, Applied: 1, Result: AnyResult},
	},
	{
		name: "verified lost before", reason: "what has not happened is never claimed",
		behaviour: LoseBefore, play: lostAndVerified,
		want: Expectation{Outcomes: []v1alpha1.Outcome{notApplied, unknown}, Sent: Any},
	},
	{
		name: "forbidden lost before", reason: "what a person says did not happen does not happen later, where that can be seen to",
		behaviour: LoseBefore, play: lostAndForbidden,
		want: Expectation{Outcomes: []v1alpha1.Outcome{notApplied, unknown}, Sent: Any},
	},
	{
		name: "forbidden lost after", reason: "what has happened is never denied, whatever a person says",
		behaviour: LoseAfter, play: lostAndForbidden,
		want: Expectation{Outcomes: []v1alpha1.Outcome{applied, unknown}, Sent: Any, Applied: 1, Result: AnyResult},
	},
	{
		name: "forbidden unseen", reason: "an attempt that arrives after it was forbidden is refused, and a later one is not",
		behaviour: Apply, play: forbiddenAndTried,
		want: Expectation{Outcomes: one(applied), Sent: Any, Applied: 1, Result: ResultIs(`{"ok":true}`)},
	},
	{
		name: "cancelled before", reason: "on shutdown nothing new leaves",
		behaviour: Apply, play: cancelledBefore,
		want: Expectation{Outcomes: one(notApplied), OrError: true},
	},
	{
		name: "cancelled while sent", reason: "what was sent and not answered is in doubt",
		behaviour: Hang, play: cancelledWhileSent,
		want: Expectation{Outcomes: one(unknown), Sent: 1},
	},
	{
		name: "cancelled after", reason: "a shutdown after the answer takes nothing back",
		behaviour: Apply, play: cancelledAfter,
		want: Expectation{Outcomes: one(applied), Sent: 1, Applied: 1, Result: ResultIs(`{"ok":true}`)},
	},
	{
		name: "deadline over before", reason: "another process may run the next attempt by now (hazard 5)",
		behaviour: Apply, play: tooLate,
		want: Expectation{Outcomes: one(notApplied), OrError: true},
	},
	{
		name: "result too large", reason: "a result never blocks its phase (I9)",
		behaviour: AnswerLarge, play: once,
		want: Expectation{Outcomes: one(applied), Sent: 1, Applied: 1, Result: ResultNotes("too large")},
	},
	{
		name: "result empty", reason: "applied without a result is applied",
		behaviour: AnswerEmpty, play: once,
		want: Expectation{Outcomes: one(applied), Sent: 1, Applied: 1},
	},
	{
		name: "result not JSON", reason: "a record holds JSON only",
		behaviour: AnswerText, play: once,
		want: Expectation{Outcomes: one(applied), Sent: 1, Applied: 1, Result: ResultNotes("not JSON")},
	},
	{
		name: "secret in result", reason: "a receiver that repeats a secret gives it to nobody",
		behaviour: TellSecret, play: once,
		want: Expectation{Outcomes: one(applied), Sent: 1, Applied: 1, Result: AnyResult},
	},
	{
		name: "secret in refusal", reason: "a receiver that repeats a secret gives it to nobody",
		behaviour: RefuseSecret, play: once,
		want: Expectation{Outcomes: one(notApplied), Permanent: true, Sent: 1},
	},
}

func once(ctx context.Context, s *Subject) []answer { return []answer{s.run(ctx, NewAttempt(1))} }

func attempts(numbers ...int32) func(context.Context, *Subject) []answer {
	return func(ctx context.Context, s *Subject) []answer {
		var answers []answer
		for _, number := range numbers {
			answers = append(answers, s.run(ctx, NewAttempt(number)))
		}
		return answers
	}
}

func verified(ctx context.Context, s *Subject) []answer { return []answer{s.verify(ctx)} }

func lostAndVerified(ctx context.Context, s *Subject) []answer {
	_ = s.run(ctx, NewAttempt(1)) // the cases of lost answers judge what it says
	return []answer{s.verify(ctx)}
}

// lostAndForbidden forbids what was lost, twice: done again after a crash it says the same.
func lostAndForbidden(ctx context.Context, s *Subject) []answer {
	_ = s.run(ctx, NewAttempt(1))
	return []answer{s.forbid(ctx), s.forbid(ctx)}
}

// forbiddenAndTried answers with the attempt that follows on one which was forbidden and arrives late.
func forbiddenAndTried(ctx context.Context, s *Subject) []answer {
	forbidden := s.forbid(ctx)
	if forbidden.err == nil && forbidden.outcome.Kind == unknown {
		return []answer{s.run(ctx, NewAttempt(2))}
	}
	late := s.run(ctx, NewAttempt(1))
	if forbidden.err != nil || late.err != nil || forbidden.outcome.Kind != notApplied || late.outcome.Kind != notApplied || s.Applied() != 0 {
		late.err = fmt.Errorf("forbidden it said %+v, and arriving late %+v", forbidden, late)
		return []answer{late}
	}
	return []answer{s.run(ctx, NewAttempt(2))}
}

func cancelledBefore(ctx context.Context, s *Subject) []answer {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return []answer{s.run(ctx, NewAttempt(1))}
}

func cancelledWhileSent(ctx context.Context, s *Subject) []answer {
	attempt, cancel := context.WithCancel(ctx)
	defer cancel()
	reached := make(chan error, 1)
	go func() { reached <- s.Reached(ctx); cancel() }()
	got := s.run(attempt, NewAttempt(1))
	if err := <-reached; err != nil {
		got.err = err
	}
	return []answer{got}
}

func cancelledAfter(ctx context.Context, s *Subject) []answer {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	got := s.run(ctx, NewAttempt(1))
	cancel()
	return []answer{got}
}

func tooLate(ctx context.Context, s *Subject) []answer {
	attempt := NewAttempt(1)
	attempt.Deadline = time.Now().Add(-time.Second)
	return []answer{s.run(ctx, attempt)}
}
