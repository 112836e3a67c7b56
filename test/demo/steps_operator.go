package main

import (
	"context"
	"strings"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// What happens to the operator itself, and what it says when it cannot go on.

const (
	// heldFor is how long the receiver holds the call of "killed" after the new operator is ready: much shorter than what that
	// one waits, so that the receiver knows the answer when it is asked.
	heldFor = time.Second
	// orphanWait is the time-out of book-seat.yaml and the operator's grace: so long an attempt is waited for that
	// another process has begun.
	orphanWait = 6*time.Second + 5*time.Second
)

func killed() step {
	const key = "book-seat-14c"
	var submission *v1alpha1.TaskSubmission
	return step{
		name: "killed",
		story: "The operator is killed (SIGKILL) after it has sent the request and before the answer; another one is started.\n" +
			"The request is still on its way, and nobody knows who else might be alive: the attempt's time-out and a grace are\n" +
			"waited for, and then the receiver is asked.",
		disturb: func(ctx context.Context, s *stage) error {
			submission = s.submission(key, "book-seat", `{"seat": "14c", "amount": 1}`)
			if err := s.submit(ctx, submission); err != nil {
				return err
			}
			if err := s.receiver.called(ctx, downstreamKey(s.namespace, submission.Name), 1); err != nil {
				return err
			}
			s.manager.Kill()
			s.say("The receiver has the request; the operator is killed, and another one is started.")
			return s.manager.start(ctx)
		},
		play: func(ctx context.Context, s *stage) error {
			if err := s.hold(ctx, downstreamKey(s.namespace, submission.Name)); err != nil {
				return err
			}
			if err := s.receiver.release(ctx); err != nil {
				return err
			}
			return s.tellEnd(ctx, submission)
		},
		judge: func(e *evidence) []Finding {
			return []Finding{
				notBefore("check", e.log(ledger.Call, key), e.log(ledger.Check, key), 0, orphanWait),
				e.stands(key, "Success/VerifiedApplied"),
				e.calls(1, key),
				e.effects(1, key),
			}
		},
	}
}

// hold returns when the call is to be let go: after a time, or, where the operator has a fault, when it has called again.
func (s *stage) hold(ctx context.Context, key string) error {
	if s.manager.fault != "" {
		return s.receiver.called(ctx, key, 2)
	}
	pass(ctx, heldFor)
	return nil
}

// saysWhatToDo looks for a way out in the message: the kind to create, and the actions to choose from.
func (e *evidence) saysWhatToDo(key string) Finding {
	const sentence = "the message says what a person can do"
	s := e.submission(key)
	if s == nil {
		return Finding{sentence, "there is no submission"}
	}
	for _, word := range []string{"TaskDecision", "ConfirmApplied", "ConfirmNotApplied"} {
		if !strings.Contains(s.Status.Message, word) {
			return Finding{sentence, "it does not speak of " + word}
		}
	}
	return Finding{sentence, sentence}
}
