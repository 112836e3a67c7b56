package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// What clients do: send again, all at once, from two devices, with another amount.

func lostAnswer() step {
	const (
		key    = "task_submit:42:stu-7:3:web-1"
		first  = "4bf92f3577b34da6a3ce929d0e0e4736"
		second = "0af7651916cd43dd8448eb211c80319c"
	)
	return step{
		name:  "lost answer",
		story: "The answer to a create is lost, so 180 ms later the client sends the same create again, with another trace.",
		play: func(ctx context.Context, s *stage) error {
			manifest := func() string { return `{"taskId": 42, "studentId": "stu-7", "submitVersion": 3, "amount": 10}` }
			again := time.NewTimer(180 * time.Millisecond)
			submission := traced(s.submission(key, "award-points", manifest()), first)
			if err := s.submit(ctx, submission); err != nil {
				return err
			}
			<-again.C
			if err := s.create(ctx, s.api, traced(s.submission(key, "award-points", manifest()), second)); err != nil {
				return err
			}
			done, err := s.finished(ctx, submission)
			if err != nil {
				return err
			}
			for _, who := range []string{"first", "second"} {
				if err := s.read(ctx, who, submission); err != nil {
					return err
				}
			}
			s.say("The key %s makes the name %s; the API server answered %s, then %s.", key, done.Name, s.answers[0].reason, s.answers[1].reason)
			s.say("Whoever asks is told %s, with the result %s.", standing(done), result(done))
			return nil
		},
		judge: func(e *evidence) []Finding {
			return []Finding{
				{"1 Created, 1 AlreadyExists", e.tally("create")},
				e.stands(key, "Success/Applied"),
				e.calls(1, key),
				e.effects(1, key),
				e.sameResult("the same result for both", e.seen["first"], e.seen["second"]),
				e.isReceipt(key),
				e.carriesTrace(key, first),
			}
		},
	}
}

// isReceipt compares what whoever asks is told with what the receiver wrote down.
func (e *evidence) isReceipt(key string) Finding {
	const sentence = "it is the effect's own receipt"
	effects, s := e.log(ledger.Effect, key), e.submission(key)
	if len(effects) == 0 || s == nil {
		return Finding{sentence, "there is no effect or no submission"}
	}
	return holds(sentence, strings.Contains(result(s), fmt.Sprintf(`"receipt":%d}`, effects[0].Receipt)), "the result is %s", result(s))
}

func (e *evidence) carriesTrace(key, traceID string) Finding {
	const sentence = "the call continues the first client's trace"
	calls := e.log(ledger.Call, key)
	if len(calls) == 0 {
		return Finding{sentence, "there was no call"}
	}
	return holds(sentence, strings.HasPrefix(calls[0].Traceparent, "00-"+traceID+"-"), "its traceparent is %q", calls[0].Traceparent)
}

func stampede() step {
	const (
		key     = "grant-coupon-42"
		clients = 50
	)
	return step{
		name:  "stampede",
		story: fmt.Sprintf("%d clients, each with a connection of its own, create the same key at once.", clients),
		play: func(ctx context.Context, s *stage) error {
			var all errgroup.Group
			start := make(chan struct{})
			for range clients {
				api, err := connect(s.plane.Config)
				if err != nil {
					return err
				}
				all.Go(func() error {
					<-start
					return s.create(ctx, api, s.submission(key, "award-points", `{"taskId": 42, "studentId": "stu-8", "submitVersion": 1, "amount": 5}`))
				})
			}
			close(start)
			if err := all.Wait(); err != nil {
				return err
			}
			return s.finishedByName(ctx, key)
		},
		judge: func(e *evidence) []Finding {
			return []Finding{
				{fmt.Sprintf("1 Created, %d AlreadyExists", clients-1), e.tally("create")},
				e.stands(key, "Success/Applied"),
				e.calls(1, key),
				e.effects(1, key),
			}
		},
	}
}

func twoDevices() step {
	const phone, tablet, business = "task_submit:43:stu-7:1:phone", "task_submit:43:stu-7:1:tablet", "43/stu-7/1"
	return step{
		name:  "two devices",
		story: "The same task is submitted from a phone and from a tablet: two idempotency keys, one business key.",
		play: func(ctx context.Context, s *stage) error {
			var both errgroup.Group
			for _, key := range []string{phone, tablet} {
				both.Go(func() error {
					submission := s.submission(key, "award-points", `{"taskId": 43, "studentId": "stu-7", "submitVersion": 1, "amount": 10}`)
					if err := s.submit(ctx, submission); err != nil {
						return err
					}
					done, err := s.finished(ctx, submission)
					if err == nil {
						s.say("%s is %s, with the result %s.", key, standing(done), result(done))
					}
					return err
				})
			}
			return both.Wait()
		},
		judge: func(e *evidence) []Finding {
			first, other := phone, tablet
			if s := e.submission(phone); s != nil && s.Status.DuplicateOf != "" {
				first, other = tablet, phone
			}
			return append(e.sharedResult(first, other),
				count(1, e.effectsOfBusiness(business), "effect for the business key"))
		},
	}
}

func (e *evidence) sharedResult(first, other string) []Finding {
	findings := []Finding{e.stands(first, "Success/Applied"), e.stands(other, "Success/AlreadyApplied")}
	one, two := e.submission(first), e.submission(other)
	if one == nil || two == nil {
		return findings
	}
	return append(findings,
		holds("duplicateOf names the first", two.Status.DuplicateOf == one.Name, "duplicateOf is %q", two.Status.DuplicateOf),
		e.sameResult("with the first result", one, two))
}

func (e *evidence) effectsOfBusiness(key string) int {
	n := 0
	for _, entry := range e.entries {
		if entry.Kind == ledger.Effect && entry.BusinessKey == key {
			n++
		}
	}
	return n
}

func otherPayload() step {
	const key = "award-task-44-stu-9"
	const amount10, amount99 = `{"taskId": 44, "studentId": "stu-9", "submitVersion": 1, "amount": 10}`, `{"taskId": 44, "studentId": "stu-9", "submitVersion": 1, "amount": 99}`
	return step{
		name:  "other payload",
		story: "A key that has awarded 10 points is used for 99: by an update, and by a new submission after the first was deleted.",
		play: func(ctx context.Context, s *stage) error {
			submission := s.submission(key, "award-points", amount10)
			if err := s.submit(ctx, submission); err != nil {
				return err
			}
			done, err := s.finished(ctx, submission)
			if err != nil {
				return err
			}
			changed := done.DeepCopy()
			changed.Spec.Parameters.Raw = []byte(amount99)
			if err := s.update(ctx, changed); err != nil {
				return err
			}
			s.say("The API server refuses the update: %s", s.answers[len(s.answers)-1].message)
			if err := s.remove(ctx, submission); err != nil {
				return err
			}
			reused := s.submission(key, "award-points", amount99)
			if err := s.submit(ctx, reused); err != nil {
				return err
			}
			if done, err = s.finished(ctx, reused); err == nil {
				s.say("After a delete it is created, and %s: %s", standing(done), done.Status.Message)
			}
			return err
		},
		judge: func(e *evidence) []Finding {
			return []Finding{
				{"1 Invalid", e.tally("update")},
				{"2 Created", e.tally("create")},
				e.stands(key, "Failed/KeyReused"),
				e.effects(1, key),
				{"its amount is 10", e.firstAmount(key)},
			}
		},
	}
}

func (e *evidence) firstAmount(key string) string {
	if effects := e.log(ledger.Effect, key); len(effects) > 0 {
		return "its amount is " + effects[0].Amount.String()
	}
	return "there is none"
}
