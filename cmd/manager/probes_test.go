package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestTooMuchToDoIsAnAnswer(t *testing.T) {
	away := errors.New("connection refused")
	for _, c := range []struct{ answer, want error }{
		{apierrors.NewTooManyRequests("too many requests", 1), nil}, {away, away}, {nil, nil},
	} {
		if got := unlessOverloaded(c.answer); !errors.Is(got, c.want) {
			t.Errorf("%v: got %v", c.answer, got)
		}
	}
}

func TestTheAPIServerIsAskedNowAndThen(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	asked, away := 0, errors.New("connection refused")
	var answer error
	check := reachable(func(context.Context) error { asked++; return answer }, func() time.Time { return now })
	for _, step := range []struct {
		after  time.Duration
		answer error
		want   error
		asked  int
		reason string
	}{
		{0, away, away, 1, "it does not answer at the start"},
		{0, nil, nil, 2, "an error is not kept"},
		{reachedFor - 1, away, nil, 2, "it has answered a moment ago"},
		{1, away, away, 3, "that was long ago"},
		{0, away, away, 4, "it is asked each time until it answers"},
		{0, nil, nil, 5, "it answers again"},
	} {
		now, answer = now.Add(step.after), step.answer
		if err := check(httptest.NewRequest("GET", "/readyz", http.NoBody)); !errors.Is(err, step.want) || asked != step.asked {
			t.Errorf("%s: %v after being asked %d times; want %v after %d", step.reason, err, asked, step.want, step.asked)
		}
	}
}
