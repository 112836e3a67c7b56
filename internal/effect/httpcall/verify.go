package httpcall

import (
	"context"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// verification is the question whether an attempt had its effect.
type verification struct {
	request template
	rules   []rule
	result  result
	timeout time.Duration
}

// Verify asks the template's question. It carries no Idempotency-Key, so that no receiver takes it for the action.
// An answer that no rule names, and no answer, cannot tell. An error is a Secret that cannot be read, or ctx.
func (c *call) Verify(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	v := c.verification
	if v == nil {
		return effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: "the template has no verification"}, nil
	}
	deadline := c.client.now().Add(v.timeout)
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	in, err := input(attempt)
	if err != nil {
		return unverifiable("verification", err)
	}
	client := c.client.forOneRequest()
	request, values, err := v.request.build(ctx, client, attempt, in)
	if err != nil {
		return unverifiable("verification", err)
	}
	trace(request.Header, attempt)
	w, err := v.request.way(ctx, client, deadline)
	if err != nil {
		return unverifiable("verification", err)
	}
	answer, failure := c.client.exchange(ctx, request, w)
	if failure != nil {
		return failure.cannotTell("verification")
	}
	in.Response = response(answer)
	silent := verdict{kind: v1alpha1.OutcomeUnknown, message: "no rule of the verification says what that means"}
	outcome := c.client.conclude(classify(v.rules, in, silent), answer, values)
	outcome.Message = cut("verification: " + outcome.Message)
	if outcome.Kind == v1alpha1.OutcomeApplied {
		v.result.store(&outcome, answer, in, values)
	}
	return outcome, nil
}

// unverifiable turns a request that cannot be made into a question that cannot be answered: it says nothing about
// the attempt.
func unverifiable(question string, err error) (effect.Outcome, error) {
	outcome, err := rejected(err)
	if err != nil {
		return outcome, err
	}
	return effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: cut(question + " could not tell: " + outcome.Message)}, nil
}
