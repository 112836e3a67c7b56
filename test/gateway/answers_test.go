package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

const page = "../../docs/http.md"

// TestAnswers plays every situation, and compares the page's table with what was answered.
func TestAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("award", "/plain/points", schema)
	w.template("refused", "/nowhere")
	w.template("slow", "/hold/points", func(s *v1alpha1.TaskTemplateSpec) { s.Effect.HTTP.Timeout.Duration = 10 * time.Minute })
	var answers []map[string]any
	table := "| situation | status | problem | headers |\n| --- | --- | --- | --- |\n"
	for _, s := range situations() {
		got := s.ask(w)
		kind, header := "", told(got.header)
		if got.status >= 400 {
			kind = got.said(t).Type
		}
		if got.status != s.status || kind != s.kind || header != s.header {
			t.Errorf("%s: %d %q %q, want %d %q %q: %s", s.what, got.status, kind, header, s.status, s.kind, s.header, got.body)
		}
		answers = append(answers, contractOf(t, s.what, got))
		table += fmt.Sprintf("| %s | %d | %s | %s |\n", s.what, got.status, code(kind), header)
	}
	for name, wanted := range map[string]int{"a": 1, "b": 0, "d": 0, "e": 0} {
		if n := w.effects(name); n != wanted {
			t.Errorf("%s: %d effects, want %d", name, n, wanted)
		}
	}
	compare(t, "answers", table)
	compareContract(t, answers)
}

func code(kind string) string {
	if kind == "" {
		return ""
	}
	return "`" + kind + "`"
}

// told is what the headers say, without what every answer has.
func told(header http.Header) string {
	var list []string
	for _, name := range []string{"Allow", "Content-Location", "Location", "Idempotency-Replayed", "Preference-Applied", "Retry-After", "WWW-Authenticate"} {
		value := header.Get(name)
		if strings.HasSuffix(name, "Location") && value != "" {
			list = append(list, name)
		} else if value != "" {
			list = append(list, name+": "+value)
		}
	}
	return strings.Join(list, ", ")
}

// compare holds a part of the page to what was found, or writes it there.
func compare(t *testing.T, part, found string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+part+": make errors writes this -->\n\n", "\n<!-- end of "+part+" -->"
	before, rest, ok := strings.Cut(string(text), begin)
	written, behind, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for %s", page, part)
	}
	if os.Getenv("TASKONCE_WRITE_ERRORS") != "" {
		if err := os.WriteFile(page, []byte(before+begin+found+end+behind), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if written != found {
		t.Errorf("%s is not what was answered: run make errors, and look at what changed. It is:\n%s", page, found)
	}
}

// contract is what clients in other languages are tested against.
const contract = "../../clients/answers.json"

// contractOf is an answer without what differs from run to run, and without what is for people.
func contractOf(t *testing.T, what string, a answered) map[string]any {
	t.Helper()
	var body any
	if strings.HasSuffix(a.header.Get("Content-Type"), "json") {
		if err := json.Unmarshal(a.body, &body); err != nil {
			t.Fatal(err)
		}
		same(body)
	}
	return map[string]any{"situation": what, "status": a.status, "contentType": a.header.Get("Content-Type"), "retryAfter": a.header.Get("Retry-After"), "body": body}
}

func same(body any) {
	object, ok := body.(map[string]any)
	if !ok {
		return
	}
	for _, differs := range []string{"detail", "errors", "message", "result", "resultDigest", "startedAt", "completedAt"} {
		delete(object, differs)
	}
	same(object["submission"])
}

func compareContract(t *testing.T, answers []map[string]any) {
	t.Helper()
	var found bytes.Buffer
	encoder := json.NewEncoder(&found)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(answers); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("TASKONCE_WRITE_ERRORS") != "" {
		if err := os.WriteFile(contract, found.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if written, err := os.ReadFile(contract); err != nil || !bytes.Equal(written, found.Bytes()) {
		t.Errorf("%s is not what was answered: run make errors, and look at what changed: %v", contract, err)
	}
}
