package effecttest

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// Execute implements effect.Effect.
func (f *Fake) Execute(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	step := f.begin(attempt)
	select {
	case <-orNow(step.Before):
	case <-ctx.Done():
	}
	if err := cmp.Or(step.Err, f.lack()); err != nil {
		return effect.Outcome{}, err
	}
	outcome, err := f.send(ctx, attempt, step)
	if step.Panics {
		panic("the effect broke")
	}
	if err != nil || step.After == nil {
		return outcome, err
	}
	select {
	case <-step.After:
		return outcome, nil
	case <-ctx.Done():
		return lost(false).Outcome, nil
	}
}

// send is the moment at which the effect happens: the context and the clock are asked right before it.
func (f *Fake) send(ctx context.Context, attempt effect.Attempt, step Step) (effect.Outcome, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if errors.Is(ctx.Err(), context.Canceled) {
		return effect.Outcome{}, context.Cause(ctx)
	}
	if ctx.Err() != nil || !f.now().Before(attempt.Deadline) {
		return Busy("the deadline was over before the request could be sent; nothing was sent").Outcome, nil
	}
	key := attempt.DownstreamKey
	f.sent[key]++
	f.wake()
	if attempt.Number <= f.refused[key] {
		return Refuses("a person confirmed that it was not applied").Outcome, nil
	}
	if first, seen := f.first[key]; f.traits.ReplaySafe && seen {
		if step.Outcome.Kind == v1alpha1.OutcomeUnknown {
			return step.Outcome, nil
		}
		return first, nil
	}
	if step.Happens {
		f.effects[key]++
		f.first[key] = told(step.Outcome)
	}
	return step.Outcome, nil
}

// told is what a receiver that remembers says when it is asked again.
func told(outcome effect.Outcome) effect.Outcome {
	if outcome.Kind == v1alpha1.OutcomeApplied {
		return outcome
	}
	return Applies("{}").Outcome
}

// Verify implements effect.Verifier.
func (f *Fake) Verify(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	return f.answer(ctx, Verify, attempt, v1alpha1.OutcomeNotApplied)
}

// Poll implements effect.Poller.
func (f *Fake) Poll(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	return f.answer(ctx, Poll, attempt, v1alpha1.OutcomeInProgress)
}

// Forbid implements effect.Forbidder: the receiver applies no attempt up to this one any more.
func (f *Fake) Forbid(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	outcome, err := f.answer(ctx, Forbid, attempt, v1alpha1.OutcomeNotApplied)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.forbid == nil {
		f.refused[attempt.DownstreamKey] = max(f.refused[attempt.DownstreamKey], attempt.Number)
	}
	return outcome, err
}

// Prepare implements effect.Preparer.
func (f *Fake) Prepare(_ context.Context, attempt effect.Attempt) error {
	f.asked(Prepare, attempt)
	return f.lack()
}

func (f *Fake) lack() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lacks
}

// answer asks the question that was set, or else says the truth: Applied, or what it is when nothing has happened.
func (f *Fake) answer(ctx context.Context, method Method, attempt effect.Attempt, otherwise v1alpha1.Outcome) (effect.Outcome, error) {
	question := f.asked(method, attempt)
	if question != nil {
		return question(ctx, attempt)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.effects[attempt.DownstreamKey] == 0 {
		outcome := effect.Outcome{Kind: otherwise, Message: "the receiver has not applied it"}
		if otherwise == v1alpha1.OutcomeInProgress {
			outcome.Location = attempt.Location
		}
		return outcome, nil
	}
	if first, seen := f.first[attempt.DownstreamKey]; seen {
		return first, nil
	}
	return Applies("{}").Outcome, nil
}

func (f *Fake) asked(method Method, attempt effect.Attempt) Question {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.record(Call{method, attempt})
	return map[Method]Question{Verify: f.verify, Forbid: f.forbid}[method]
}

func (f *Fake) begin(attempt effect.Attempt) Step {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.record(Call{Execute, attempt})
	for _, key := range []stepKey{{attempt.Name, attempt.Number}, {"", attempt.Number}} {
		if step, told := f.steps[key]; told {
			return step
		}
	}
	return f.fallback
}

// record appends a call.
func (f *Fake) record(call Call) {
	f.calls = append(f.calls, call)
	f.wake()
}

// wake wakes those who wait for a call, or for what is sent.
func (f *Fake) wake() {
	close(f.grown)
	f.grown = make(chan struct{})
}

// Calls returns the calls so far, in the order in which they began; of the given methods, or of all.
func (f *Fake) Calls(methods ...Method) []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	var calls []Call
	for _, call := range f.calls {
		if len(methods) == 0 || slices.Contains(methods, call.Method) {
			calls = append(calls, call)
		}
	}
	return calls
}

// Effects returns how often the effect of a downstream key has happened.
func (f *Fake) Effects(downstreamKey string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.effects[downstreamKey]
}

// Sent returns how many requests of a downstream key have left.
func (f *Fake) Sent(downstreamKey string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent[downstreamKey]
}

// Await returns the calls of a method as soon as there are n, or the error of ctx.
func (f *Fake) Await(ctx context.Context, method Method, n int) (calls []Call, err error) {
	err = f.until(ctx, func() bool {
		calls = f.Calls(method)
		return len(calls) >= n
	})
	return calls, err
}

// AwaitSent returns as soon as a request of a downstream key has left, or with the error of ctx.
func (f *Fake) AwaitSent(ctx context.Context, downstreamKey string) error {
	return f.until(ctx, func() bool { return f.Sent(downstreamKey) > 0 })
}

// until asks again whenever something was called or sent, until it is so, or returns the error of ctx.
func (f *Fake) until(ctx context.Context, so func() bool) error {
	for {
		f.mu.Lock()
		grown := f.grown
		f.mu.Unlock()
		if so() {
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

var now = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// orNow returns the channel, or one that is closed where it is nil.
func orNow(hold <-chan struct{}) <-chan struct{} {
	if hold == nil {
		return now
	}
	return hold
}
