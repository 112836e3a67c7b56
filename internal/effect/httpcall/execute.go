package httpcall

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
)

// call is the effect of one template.
type call struct {
	client     *client
	request    template
	rules      []rule
	result     result
	idempotent bool
	timeout    time.Duration
	// verification is nil where the template has none.
	verification *verification
}

var (
	_ effect.Effect   = (*call)(nil)
	_ effect.Verifier = (*call)(nil)
	_ effect.Poller   = (*call)(nil)
	_ effect.Preparer = (*call)(nil)
)

// Execute sends the request once. An error means that nothing was sent: a Secret is missing (*effect.DependencyError)
// or cannot be read, or ctx was cancelled before.
func (c *call) Execute(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	ctx, cancel := context.WithDeadline(ctx, attempt.Deadline)
	defer cancel()
	in, err := input(attempt)
	if err != nil {
		return rejected(err)
	}
	request, values, w, err := c.prepare(ctx, attempt, in)
	if err != nil {
		return rejected(err)
	}
	answer, failure := c.client.exchange(traced(ctx), request, w)
	if failure != nil {
		return failure.outcome()
	}
	in.Response = response(answer)
	decided := classify(c.rules, in, byAnswer(answer, c.idempotent))
	outcome := c.client.conclude(decided, answer, values)
	outcome.Credentials = decided.credentials()
	if outcome.Kind == v1alpha1.OutcomeApplied {
		c.result.store(&outcome, answer, in, values)
	}
	return outcome, nil
}

// prepare makes the request and reads all Secrets that it needs.
func (c *call) prepare(ctx context.Context, attempt effect.Attempt, in expr.Input) (*http.Request, secrets, *way, error) {
	client := c.client.forOneRequest()
	request, values, err := c.request.build(ctx, client, attempt, in)
	if err == nil {
		err = stamp(request.Header, attempt)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	w, err := c.request.way(ctx, client, attempt.Deadline)
	return request, values, w, err
}

// Prepare reads what Execute would read.
func (c *call) Prepare(ctx context.Context, attempt effect.Attempt) error {
	in, err := input(attempt)
	if err != nil {
		return err
	}
	_, _, _, err = c.prepare(ctx, attempt, in)
	return err
}

// rejected turns an *invalidError into a permanent NotApplied, and passes every other error on.
func rejected(err error) (effect.Outcome, error) {
	var wrong *invalidError
	if errors.As(err, &wrong) {
		return effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Permanent: true, Message: cut(wrong.message)}, nil
	}
	return effect.Outcome{}, err
}

// conclude makes the outcome of a verdict about an answer. The result is not in it.
func (c *client) conclude(decided verdict, a *answer, values secrets) effect.Outcome {
	outcome := effect.Outcome{
		Kind: decided.kind, Permanent: decided.permanent, Message: answered(a.status, values.redact(decided.message)),
		RetryAfter: retryAfter(a.header, c.now()),
	}
	if location := progress(a); outcome.Kind == v1alpha1.OutcomeInProgress && !values.inURL(location) {
		outcome.Location = location
	}
	return outcome
}
