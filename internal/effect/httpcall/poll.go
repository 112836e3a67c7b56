package httpcall

import (
	"context"
	"net/http"
	"net/url"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
)

// Poll asks at attempt.Location, on the template's own origin only, since the template's headers go with it: 200,
// 201 and 204 say that the receiver has finished, 202 that it has not. Every other answer, and none, is Unknown:
// it says nothing about the action. The template's rules are for the answers of the action and are not asked.
func (c *call) Poll(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	outcome, err := c.ask(ctx, attempt, &question{
		name: "asking for progress", template: &c.request, timeout: c.timeout, result: c.result,
		build: c.progressRequest,
		judge: func(a *answer, _ expr.Input) verdict { return byProgress(a.status) },
	})
	if outcome.Kind == v1alpha1.OutcomeInProgress && outcome.Location == "" {
		outcome.Location = attempt.Location
	}
	return outcome, err
}

// progressRequest makes the GET for an attempt's location, with the template's headers.
func (c *call) progressRequest(ctx context.Context, client *client, attempt effect.Attempt, in expr.Input) (*http.Request, secrets, error) {
	sent, err := c.request.url.Render(in)
	if err != nil {
		return nil, nil, invalid("the URL cannot be made: %v", err)
	}
	origin, err := url.Parse(sent)
	if err != nil {
		return nil, nil, invalid("the URL is not valid")
	}
	location, err := url.Parse(attempt.Location)
	if err != nil || attempt.Location == "" || !sameOrigin(location, origin) {
		return nil, nil, invalid("the place to ask for progress is not on the receiver's own origin")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, location.String(), http.NoBody)
	if err != nil {
		return nil, nil, invalid("the place to ask for progress is not a URL")
	}
	request.Header.Set("User-Agent", userAgent)
	values, err := c.request.setHeaders(ctx, client, request.Header, in)
	request.Header.Del("Content-Type")
	return request, values, err
}

func byProgress(status int) verdict {
	switch status {
	case http.StatusOK, http.StatusCreated, http.StatusNoContent:
		return verdict{kind: v1alpha1.OutcomeApplied}
	case http.StatusAccepted:
		return verdict{kind: v1alpha1.OutcomeInProgress, message: "it has not finished"}
	}
	return verdict{kind: v1alpha1.OutcomeUnknown, message: "that says nothing about the action's progress"}
}
