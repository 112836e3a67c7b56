package httpcall

import (
	"context"
	"net/http"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
)

// question is what is asked about an attempt, without causing it.
type question struct {
	// name begins a message that there is no answer, and prefix one about an answer.
	name, prefix string
	// template is whose Secrets and trust it is asked with, timeout how long it may take.
	template *template
	timeout  time.Duration
	// build makes the request, as template.build does.
	build func(context.Context, *client, effect.Attempt, expr.Input) (*http.Request, secrets, error)
	// judge says what an answer means; result makes the result where it means Applied.
	judge  func(*answer, expr.Input) verdict
	result result
}

// ask puts a question, once. No answer, and a request that cannot be made, cannot tell: they say nothing about the attempt.
// An error is a Secret that cannot be read, or ctx.
func (c *call) ask(ctx context.Context, attempt effect.Attempt, q *question) (effect.Outcome, error) {
	deadline := c.client.now().Add(q.timeout)
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	in, err := input(attempt)
	if err != nil {
		return q.unasked(err)
	}
	request, values, w, err := q.prepare(ctx, c.client.forOneRequest(), attempt, in, deadline)
	if err != nil {
		return q.unasked(err)
	}
	answer, failure := c.client.exchange(ctx, request, w)
	if failure != nil {
		return failure.cannotTell(q.name)
	}
	in.Response = response(answer)
	outcome := c.client.conclude(q.judge(answer, in), answer, values)
	outcome.Message = cut(q.prefix + outcome.Message)
	if outcome.Kind == v1alpha1.OutcomeApplied {
		q.result.store(&outcome, answer, in, values)
	}
	return outcome, nil
}

func (q *question) prepare(ctx context.Context, c *client, attempt effect.Attempt, in expr.Input, deadline time.Time) (*http.Request, secrets, *way, error) {
	request, values, err := q.build(ctx, c, attempt, in)
	if err != nil {
		return nil, nil, nil, err
	}
	trace(request.Header, attempt)
	w, err := q.template.way(ctx, c, deadline)
	return request, values, w, err
}

// unasked turns a request that cannot be made into a question that cannot be answered.
func (q *question) unasked(err error) (effect.Outcome, error) {
	outcome, err := rejected(err)
	if err != nil {
		return outcome, err
	}
	return effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: cut(q.name + " could not tell: " + outcome.Message)}, nil
}
