package page

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestWhoIsAsked: an answer holds for a while, and that there was none does not.
func TestWhoIsAsked(t *testing.T) {
	now, asked := noon, 0
	says := map[string]int{"viewer": 200, "nobody": 401, "other": 403, "away": 503}
	handler := authorized(func(_ context.Context, token string) int {
		asked++
		return says[token]
	}, func() time.Time { return now }, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	for i, step := range []struct {
		reason, header string
		after          time.Duration
		status, asked  int
	}{
		{"no token", "", 0, 401, 0},
		{"no bearer", "Basic viewer", 0, 401, 0},
		{"an empty one", "Bearer ", 0, 401, 0},
		{"who may", "Bearer viewer", 0, 200, 1},
		{"again", "bearer viewer", trusted - 1, 200, 0},
		{"when it is time to ask again", "Bearer viewer", 1, 200, 1},
		{"a token that nobody knows", "Bearer nobody", 0, 401, 1},
		{"again", "Bearer nobody", refused - 1, 401, 0},
		{"when it may be known", "Bearer nobody", 1, 401, 1},
		{"who may not", "Bearer other", 0, 403, 1},
		{"again", "Bearer other", refused - 1, 403, 0},
		{"the API server is away", "Bearer away", 0, 503, 1},
		{"and is asked again at once", "Bearer away", 0, 503, 1},
	} {
		now, asked = now.Add(step.after), 0
		if got := bears(handler, step.header); got != step.status || asked != step.asked {
			t.Errorf("%d, %s: %d, and the API server was asked %d times; want %d and %d", i, step.reason, got, asked, step.status, step.asked)
		}
	}
}

// TestMadeUpTokensAreBounded: they do not cost the API server whatever somebody likes, and who was let in before still is.
func TestMadeUpTokensAreBounded(t *testing.T) {
	asked := 0
	handler := authorized(func(_ context.Context, token string) int {
		if asked++; token == "viewer" {
			return http.StatusOK
		}
		return http.StatusUnauthorized
	}, atNoon, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	bears(handler, "Bearer viewer")
	last := 0
	for i := range 10_000 {
		last = bears(handler, fmt.Sprintf("Bearer %d", i))
	}
	if last != http.StatusTooManyRequests || asked > 1000 {
		t.Errorf("the last of many is answered with %d, and the API server was asked %d times", last, asked)
	}
	if got := bears(handler, "Bearer viewer"); got != http.StatusOK {
		t.Errorf("who was let in gets %d", got)
	}
}

func bears(handler http.Handler, header string) int {
	request := httptest.NewRequest(http.MethodGet, StatePath, http.NoBody)
	if header != "" {
		request.Header.Set("Authorization", header)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer.Code
}
