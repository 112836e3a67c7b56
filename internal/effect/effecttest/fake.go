// Package effecttest holds what tests of effects, and of those who use effects, need: a Fake that can be told what
// to do, and a conformance suite that the Fake and every real effect pass.
package effecttest

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
)

// Fake is an effect with a receiver that remembers what happened. It is safe for concurrent use. Untold, it applies
// every attempt with the result {}, and verification says truly what happened. With Traits.ReplaySafe the effect
// happens once for each downstream key, and the first outcome is told again, as by a receiver that is idempotent.
type Fake struct {
	mu       sync.Mutex
	traits   effect.Traits
	faults   field.ErrorList
	now      func() time.Time
	fallback Step
	steps    map[stepKey]Step
	verify   Question
	forbid   Question
	lacks    error
	calls    []Call
	grown    chan struct{}
	sent     map[string]int
	effects  map[string]int
	first    map[string]effect.Outcome
	refused  map[string]int32 // up to which attempt a downstream key is forbidden
}

// Question answers a Verify, a Poll or a Forbid.
type Question func(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error)

// Method is which method of the fake was called.
type Method string

// The methods.
const (
	Execute Method = "Execute"
	Verify  Method = "Verify"
	Forbid  Method = "Forbid"
	Prepare Method = "Prepare"
	Poll    Method = "Poll"
)

// Call is one call, recorded when it begins.
type Call struct {
	Method  Method
	Attempt effect.Attempt
}

type stepKey struct {
	submission string
	number     int32
}

// New returns a Fake that verifies, is not replay-safe, and has time-outs of 30 s.
func New() *Fake {
	return &Fake{
		traits:   effect.Traits{Timeout: 30 * time.Second, Verifies: true, VerifyTimeout: 30 * time.Second},
		now:      time.Now,
		fallback: Applies("{}"),
		steps:    map[stepKey]Step{},
		grown:    make(chan struct{}),
		sent:     map[string]int{},
		effects:  map[string]int{},
		first:    map[string]effect.Outcome{},
		refused:  map[string]int32{},
	}
}

// Compiler returns a compiler whose effects are all this fake.
func (f *Fake) Compiler() effect.Compiler {
	return func(string, *v1alpha1.TaskTemplateSpec, *expr.Env) (effect.Effect, effect.Traits, field.ErrorList) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.faults) > 0 {
			return nil, effect.Traits{}, f.faults
		}
		return f, f.traits, nil
	}
}

// SetTraits sets the traits that templates compiled from now on have.
func (f *Fake) SetTraits(traits effect.Traits) { f.set(func() { f.traits = traits }) }

// SetFaults makes templates not compile, until it is called with none.
func (f *Fake) SetFaults(faults ...*field.Error) { f.set(func() { f.faults = faults }) }

// SetClock sets the clock that deadlines are compared with.
func (f *Fake) SetClock(now func() time.Time) { f.set(func() { f.now = now }) }

// SetDefault sets what becomes of attempts that nothing else was said about.
func (f *Fake) SetDefault(step Step) { f.set(func() { f.fallback = step }) }

// On sets what becomes of the attempt of that number, of every submission.
func (f *Fake) On(number int32, step Step) { f.OnSubmission("", number, step) }

// OnSubmission sets what becomes of one attempt of one submission. It goes before On.
func (f *Fake) OnSubmission(name string, number int32, step Step) {
	f.set(func() { f.steps[stepKey{name, number}] = step })
}

// OnVerify sets what Verify answers; nil: the truth.
func (f *Fake) OnVerify(answer Question) { f.set(func() { f.verify = answer }) }

// OnForbid sets what Forbid answers, which then forbids nothing; nil: the truth.
func (f *Fake) OnForbid(answer Question) { f.set(func() { f.forbid = answer }) }

// SetLack has attempts lack something, as the error says, which is a *effect.DependencyError; nil: nothing.
func (f *Fake) SetLack(err error) { f.set(func() { f.lacks = err }) }

// Answers returns a Question that always has one answer.
func Answers(outcome effect.Outcome, err error) Question {
	return func(context.Context, effect.Attempt) (effect.Outcome, error) { return outcome, err }
}

// Finish makes the effect of a downstream key happen by itself: late, or after it was Accepted.
func (f *Fake) Finish(downstreamKey string) { f.set(func() { f.effects[downstreamKey]++ }) }

func (f *Fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}
