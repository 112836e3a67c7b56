package gateway

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
)

// described is the interface's description, as far as it says what is answered.
type described struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Description string
			Headers     map[string]any
		}
	}
}

func (d described) has(status int, says, header string) bool {
	for _, operations := range d.Paths {
		for _, operation := range operations {
			response, ok := operation.Responses[strconv.Itoa(status)]
			if _, there := response.Headers[header]; ok && strings.Contains(response.Description, says) && (header == "" || there) {
				return true
			}
		}
	}
	return false
}

// TestTheDescriptionIsWhole: it has every type of problem, and every answer that clients are tested against, with its header.
func TestTheDescriptionIsWhole(t *testing.T) {
	answer := httptest.NewRecorder()
	(&Gateway{Callers: PassThrough{}}).Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/openapi.json", http.NoBody))
	var found described
	if err := json.Unmarshal(answer.Body.Bytes(), &found); err != nil {
		t.Fatal(err)
	}
	for _, kind := range ProblemTypes {
		if !found.has(kind.Status, kind.Name+": ", "") {
			t.Errorf("%s is not described", kind.Name)
		}
	}
	text, err := os.ReadFile("../../clients/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var told []struct {
		Situation, RetryAfter string
		Status                int
		Body                  struct{ Type string }
	}
	if err := json.Unmarshal(text, &told); err != nil || len(told) < 30 {
		t.Fatalf("%d answers, %v", len(told), err)
	}
	for _, one := range told {
		header := ""
		if one.RetryAfter != "" {
			header = "Retry-After"
		}
		if !found.has(one.Status, strings.TrimPrefix(one.Body.Type, problemTypes), header) {
			t.Errorf("%s: %d %s with %q is not described", one.Situation, one.Status, one.Body.Type, header)
		}
	}
}
