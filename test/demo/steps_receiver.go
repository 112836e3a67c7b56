package main

import (
	"context"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// What receivers and networks do: cut connections, be away, be busy, answer late, or never.

func droppedConnection() step {
	const key = "charge-order-1001"
	return step{
		name:  "dropped connection",
		story: "The receiver charges the card and the connection is cut before it answers. Nothing is sent again; it is asked.",
		play:  submitAndFinish(key, "charge-card", `{"orderId": 1001, "amount": 250}`),
		judge: func(e *evidence) []Finding {
			return []Finding{
				e.passed(key, "Processing/Verifying"),
				e.stands(key, "Success/VerifiedApplied"),
				e.calls(1, key),
				e.effects(1, key),
			}
		},
	}
}

func warmConnection() step {
	const first, second = "stamp-card-7-visit-1", "stamp-card-7-visit-2"
	return step{
		name: "warm connection",
		story: "The receiver keeps its connection open after the first stamp, and lets it die under any second request on it.\n" +
			"Go's HTTP client sends a request that carries Idempotency-Key again by itself, on connections that it reuses.",
		play: func(ctx context.Context, s *stage) error {
			for _, key := range []string{first, second} {
				if err := submitAndFinish(key, "stamp-card", `{"card": 7, "amount": 1}`)(ctx, s); err != nil {
					return err
				}
			}
			return nil
		},
		judge: func(e *evidence) []Finding {
			return []Finding{
				e.stands(first, "Success/Applied").about("visit 1"),
				e.effects(1, first).about("visit 1"),
				e.stands(second, "Success/Applied").about("visit 2"),
				e.calls(1, second).about("visit 2"),
				e.effects(1, second).about("visit 2"),
			}
		},
	}
}

func receiverDown() step {
	const key = "ship-order-1002"
	return step{
		name:  "receiver down",
		story: "Nothing listens where the order is to be sent; later something does. What certainly was not sent is tried again.",
		play: func(ctx context.Context, s *stage) error {
			submission := s.submission(key, "ship-order", `{"orderId": 1002, "amount": 1}`)
			if err := s.submit(ctx, submission); err != nil {
				return err
			}
			if err := s.reaches(ctx, submission, v1alpha1.ReasonRetrying); err != nil {
				return err
			}
			if err := s.receiver.open(ctx); err != nil {
				return err
			}
			return s.tellEnd(ctx, submission)
		},
		judge: func(e *evidence) []Finding {
			return []Finding{
				e.passed(key, "Processing/Retrying"),
				e.stands(key, "Success/Applied"),
				e.calls(1, key),
				e.effects(1, key),
			}
		},
	}
}

func pleaseWait() step {
	const key = "remind-patient-5"
	return step{
		name:  "please wait",
		story: "The receiver answers 429 with Retry-After: 2. It is left alone for two seconds, whatever the template's back-off says.",
		play:  submitAndFinish(key, "send-message", `{"patient": 5, "amount": 1}`),
		judge: func(e *evidence) []Finding {
			calls := e.log(ledger.Call, key)
			return []Finding{
				notBefore("second call", calls, calls, 1, 2*time.Second),
				e.stands(key, "Success/Applied"),
				e.calls(2, key),
				e.effects(1, key),
			}
		},
	}
}

func refusedAfterUnknown() step {
	const key = "refund-order-1003"
	return step{
		name: "refused after unknown",
		story: "The answer to attempt 1 is lost. The receiver knows keys, so it is sent again; that meets a 429, and is let in later.\n" +
			"The refusal of attempt 2 says nothing about attempt 1: it must not end as Failed.",
		play: submitAndFinish(key, "refund-order", `{"orderId": 1003, "amount": 80}`),
		judge: func(e *evidence) []Finding {
			return []Finding{
				holds("never Failed", !e.was(key, "Failed"), "it was Failed"),
				e.stands(key, "Success/Applied"),
				e.calls(3, key),
				e.effects(1, key),
			}
		},
	}
}

func lateCommit() step {
	const key = "close-account-77"
	return step{
		name: "late commit",
		story: "The receiver closes the account six seconds after the call, when the operator has long given up waiting.\n" +
			"Asked at once it says no, which is true and means nothing: only what it says after settleAfter is believed.",
		play: submitAndFinish(key, "close-account", `{"account": 77, "amount": 1}`),
		judge: func(e *evidence) []Finding {
			checks := e.log(ledger.Check, key)
			return []Finding{
				holds("asked at first, it says no", len(checks) > 0 && checks[0].Status == 404, "it was not asked before, or did not say no"),
				e.stands(key, "Success/VerifiedApplied"),
				e.calls(1, key),
				e.effects(1, key),
			}
		},
	}
}

// watchFor is how long a step looks on, to see that nothing happens.
const watchFor = 3 * time.Second

func cannotTell() step {
	const key = "print-letter-12"
	return step{
		name: "cannot tell",
		story: "The answer is lost, the receiver cannot be asked, and would print the letter again. So nothing more is sent, ever:\n" +
			"a person looks into the tray and decides.",
		play: func(ctx context.Context, s *stage) error {
			submission := s.submission(key, "print-letter", `{"letter": 12, "amount": 1}`)
			if err := s.submit(ctx, submission); err != nil {
				return err
			}
			if err := s.reaches(ctx, submission, v1alpha1.ReasonOutcomeUnknown); err != nil {
				return err
			}
			pass(ctx, watchFor)
			last, _, _, err := s.journal.look(submission.UID)
			s.say("%s: %s", standing(last), last.Status.Message)
			return err
		},
		judge: func(e *evidence) []Finding {
			return []Finding{
				e.stands(key, "Processing/OutcomeUnknown"),
				e.saysWhatToDo(key),
				e.calls(1, key),
				e.effects(1, key),
			}
		},
	}
}
