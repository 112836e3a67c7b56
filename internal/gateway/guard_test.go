package gateway

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/lru"
)

// away is a caller's authenticator that must not be asked.
type away struct{ t *testing.T }

func (a away) Authenticate(context.Context, string) (*Caller, *Problem) {
	a.t.Error("a token was looked at")
	return nil, problem(unauthenticated, "")
}

func TestTheDescriptionIsForEverybody(t *testing.T) {
	handler := (&Gateway{Callers: away{t}, Version: "1.2.3", MaxBody: 1 << 10, Heartbeat: time.Second}).Handler()
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/openapi.json", http.NoBody))
	var document struct {
		OpenAPI string
		Info    struct{ Version string }
		Paths   map[string]map[string]struct {
			Responses map[string]struct{ Content map[string]any }
		}
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &document); err != nil || answer.Code != http.StatusOK {
		t.Fatalf("%d: %v", answer.Code, err)
	}
	if document.OpenAPI != "3.1.0" || document.Info.Version != "1.2.3" || len(document.Paths) != 3 {
		t.Errorf("OpenAPI %s, version %s, %d paths", document.OpenAPI, document.Info.Version, len(document.Paths))
	}
	submit := document.Paths[base]["post"]
	for status, response := range submit.Responses {
		media := "application/json"
		if status >= "400" {
			media = "application/problem+json"
		}
		if response.Content[media] == nil {
			t.Errorf("an answer %s has no %s", status, media)
		}
	}
	if statuses := strings.Join(slices.Sorted(maps.Keys(submit.Responses)), " "); statuses != "201 202 400 401 403 404 405 408 409 413 415 422 424 429 500 503" {
		t.Errorf("the answers described are %s", statuses)
	}
}

func TestWithoutATokenNothingIsLookedAt(t *testing.T) {
	handler := (&Gateway{Callers: away{t}, MaxBody: 1 << 10}).Handler()
	for _, header := range []string{"", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz"} {
		request := httptest.NewRequest(http.MethodPost, strings.ReplaceAll(base, "{namespace}", "shop"), strings.NewReader("{"))
		request.Header.Set("Authorization", header)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		if answer.Code != http.StatusUnauthorized || answer.Header().Get("WWW-Authenticate") != "Bearer" || answer.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%q: %d %v", header, answer.Code, answer.Header())
		}
	}
}

// anyone takes every token for that of the same caller.
type anyone struct{}

func (anyone) Authenticate(context.Context, string) (*Caller, *Problem) {
	return &Caller{Identity: "anyone"}, nil
}

func TestTwoKeysAreNone(t *testing.T) {
	handler := (&Gateway{Callers: anyone{}, MaxBody: 1 << 10}).Handler()
	request := httptest.NewRequest(http.MethodPost, strings.ReplaceAll(base, "{namespace}", "shop"), strings.NewReader(`{"template":"award"}`))
	request.Header = http.Header{"Authorization": {"Bearer t"}, "Content-Type": {"application/json"}, headerKey: {`"a"`, `"b"`}}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	if answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), invalidKey.Type()) || !strings.Contains(answer.Body.String(), "more than once") {
		t.Errorf("%d: %s", answer.Code, answer.Body)
	}
}

func TestLimits(t *testing.T) {
	l := &limits{rate: rate.Every(time.Hour), burst: 2, callers: lru.New(2)}
	var allowed []bool
	for _, who := range []string{"a", "a", "a", "b", "c", "a"} {
		allowed = append(allowed, l.allow(who))
	}
	for i, wanted := range []bool{true, true, false, true, true, true} { // a was forgotten when c came
		if allowed[i] != wanted {
			t.Errorf("request %d: %t", i, allowed[i])
		}
	}
	none := &limits{}
	for range 100 {
		if !none.allow("a") {
			t.Fatal("without a rate somebody is refused")
		}
	}
}

func TestKindsAreTold(t *testing.T) {
	names := map[string]bool{}
	for _, kind := range ProblemTypes {
		if names[kind.Name] || kind.Title == "" || !strings.HasSuffix(kind.Advice, ".") || http.StatusText(kind.Status) == "" {
			t.Errorf("%+v", kind)
		}
		names[kind.Name] = true
	}
}
