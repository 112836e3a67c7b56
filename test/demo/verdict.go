package main

import (
	"fmt"
	"time"

	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// Verdict says of each step that was played what was expected and what came.
type Verdict []Judgement

// Judgement is the verdict on one step.
type Judgement struct {
	Step     string
	Findings []Finding
}

// Finding compares one thing. It is as expected where both sentences are the same.
type Finding struct{ Want, Got string }

// OK reports whether it is as expected.
func (f Finding) OK() bool { return f.Want == f.Got }

// OK reports whether all of a step is as expected.
func (j Judgement) OK() bool {
	for _, f := range j.Findings {
		if !f.OK() {
			return false
		}
	}
	return true
}

// Red returns the names of the steps in which something is not as expected.
func (v Verdict) Red() []string {
	var red []string
	for _, j := range v {
		if !j.OK() {
			red = append(red, j.Step)
		}
	}
	return red
}

// holds is a finding that is a sentence which is either true or not.
func holds(sentence string, truth bool, otherwise string, arguments ...any) Finding {
	if truth {
		return Finding{sentence, sentence}
	}
	return Finding{sentence, fmt.Sprintf(otherwise, arguments...)}
}

// count is a finding about a number of things.
func count(want, got int, thing string) Finding {
	return Finding{counted(want, thing), counted(got, thing)}
}

func counted(n int, thing string) string {
	switch n {
	case 0:
		return "no " + thing
	case 1:
		return "1 " + thing
	default:
		return fmt.Sprintf("%d %ss", n, thing)
	}
}

// about says what a finding is about, where a step has several of the kind.
func (f Finding) about(what string) Finding {
	return Finding{what + ": " + f.Want, what + ": " + f.Got}
}

// The findings that most steps need.

func (e *evidence) effects(want int, key string) Finding {
	return count(want, len(e.log(ledger.Effect, key)), "effect")
}

func (e *evidence) calls(want int, key string) Finding {
	return count(want, len(e.log(ledger.Call, key)), "call")
}

func (e *evidence) stands(key, want string) Finding {
	return Finding{want, e.standing(key)}
}

func (e *evidence) passed(key, where string) Finding {
	return holds(where+" on the way", e.was(key, where), "%s was never seen", where)
}

// notBefore says that one of the entries in to came no earlier than a time after the first call.
func notBefore(thing string, calls, to []ledger.Entry, index int, least time.Duration) Finding {
	sentence := fmt.Sprintf("no %s within %s of the call", thing, least)
	if len(calls) == 0 || len(to) <= index {
		return Finding{sentence, "there was none at all"}
	}
	after := gap(calls[0], to[index])
	return holds(sentence, after >= least, "one after %s", after.Round(10*time.Millisecond))
}
