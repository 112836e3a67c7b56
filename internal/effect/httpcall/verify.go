package httpcall

import (
	"context"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
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
	silent := verdict{kind: v1alpha1.OutcomeUnknown, message: "no rule of the verification says what that means"}
	return c.ask(ctx, attempt, &question{
		name: "verification", prefix: "verification: ", template: &v.request, timeout: v.timeout, result: v.result,
		build: v.request.build,
		judge: func(_ *answer, in expr.Input) verdict { return classify(v.rules, in, silent) },
	})
}
