package effecttest

import (
	"context"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// World is one kind of effect, and all receivers that the suite asks for.
type World struct {
	// Name is the world's row in the table.
	Name string
	// Build returns a new subject, whose receiver behaves as it is told. Each case builds one.
	Build func(t *testing.T, behaviour Behaviour) *Subject
	// Differs holds, by the name of a case, what this effect promises in place of what the suite asks for.
	Differs map[string]Expectation
}

// Subject is an effect and its receiver.
type Subject struct {
	Effect effect.Effect
	// Sent returns how many requests the receiver has seen, and Applied how often the effect has happened.
	Sent, Applied func() int
	// Dedups says what the receiver applies once at most.
	Dedups Dedup
	// Secret is a value that the effect is given and nobody may see.
	Secret string
	// Reached returns when a request has reached the receiver. Only a receiver that Hangs needs it.
	Reached func(ctx context.Context) error
	// Advance lets the receiver go on with what is in progress. It is called before each Poll; nil: nothing ever is.
	Advance func()
}

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
	// Hang: the request arrives, nothing happens, and the connection stays open.
	Hang Behaviour = "hang"
	// AnswerLarge: as Apply, with a result of more than effect.MaxResultBytes.
	AnswerLarge Behaviour = "answer large"
	// AnswerEmpty: as Apply, without a result.
	AnswerEmpty Behaviour = "answer empty"
	// AnswerText: as Apply, with a result that is no JSON.
	AnswerText Behaviour = "answer text"
	// TellSecret: as Apply, with the secret in the result, where the receiver knows it.
	TellSecret Behaviour = "tell the secret"
	// RefuseSecret: as Refuse, with the secret in what it says, where the receiver knows it.
	RefuseSecret Behaviour = "refuse and tell the secret"
)

// Dedup is what a receiver applies once at most.
type Dedup int

const (
	// DedupsNothing: every request is applied.
	DedupsNothing Dedup = iota
	// DedupsAttempts: each attempt is applied once.
	DedupsAttempts
	// DedupsKeys: each downstream key is applied once.
	DedupsKeys
)

// Any stands for a count that is not looked at.
const Any = -1

// Expectation is what a case asks for.
type Expectation struct {
	// Reason says why, to whoever reads that it was not met.
	Reason string
	// Outcomes are those allowed. Permanent is that of NotApplied; OrError allows an error instead, which says that
	// nothing was sent.
	Outcomes  []v1alpha1.Outcome
	Permanent bool
	OrError   bool
	// Sent and Applied are how often the receiver was asked, and how often the effect happened.
	Sent, Applied int
	// Result judges the result; nil: there is none.
	Result func(effect.Outcome) error
}
