package effecttest

import (
	"encoding/json"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// Step is what a Fake does with one attempt: what becomes of the effect, and what is told of it. The two differ
// where an answer is lost.
type Step struct {
	// Happens says that the effect happens.
	Happens bool
	// Outcome is told, unless Err is set.
	Outcome effect.Outcome
	// Err is told; then nothing is sent, whatever Happens says.
	Err error
	// Before holds the attempt before anything is sent, until it is closed or the attempt is cancelled. nil: not.
	Before <-chan struct{}
	// After holds the attempt after it was sent (and after the effect, if it happens), until it is closed or the
	// attempt's context ends: then the outcome is Unknown. nil: not.
	After <-chan struct{}
	// Panics has the attempt panic after it was sent, instead of telling anything.
	Panics bool
}

// Applies happens, and tells the result, which is JSON; "" is none.
func Applies(result string) Step {
	step := Step{Happens: true, Outcome: effect.Outcome{Kind: v1alpha1.OutcomeApplied}}
	step.Outcome.StoreResult(json.RawMessage(result), "application/json", false)
	return step
}

// Refuses does not happen, and would not the next time either.
func Refuses(message string) Step {
	return Step{Outcome: effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Permanent: true, Message: message}}
}

// Busy does not happen, but may the next time.
func Busy(message string) Step {
	return Step{Outcome: effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Message: message}}
}

// LostBefore does not happen, and nobody is told.
func LostBefore() Step { return lost(false) }

// LostAfter happens, and nobody is told.
func LostAfter() Step { return lost(true) }

func lost(happens bool) Step {
	return Step{Happens: happens, Outcome: effect.Outcome{
		Kind: v1alpha1.OutcomeUnknown, Message: "the connection ended before the receiver answered",
	}}
}

// Breaks happens, and whoever carries it out panics.
func Breaks() Step { return Step{Happens: true, Panics: true} }

// Accepted is in progress; it happens when a later Poll or Verify says so (Fake.Finish).
func Accepted(location string) Step {
	return Step{Outcome: effect.Outcome{
		Kind: v1alpha1.OutcomeInProgress, Location: location, Message: "the receiver has not finished",
	}}
}

// Fails sends nothing and returns the error.
func Fails(err error) Step { return Step{Err: err} }

// HeldBefore returns the step, held before anything is sent until release is closed.
func (s Step) HeldBefore(release <-chan struct{}) Step { s.Before = release; return s }

// HeldAfter returns the step, held after it was sent until release is closed.
func (s Step) HeldAfter(release <-chan struct{}) Step { s.After = release; return s }
