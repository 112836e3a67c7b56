package httpcall

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

func TestResults(t *testing.T) {
	endless := func(_ int, _ seen, w io.Writer) bool {
		_, err := io.WriteString(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for err == nil {
			_, err = io.WriteString(w, "400\r\n"+strings.Repeat("x", 0x400)+"\r\n")
		}
		return false
	}
	for _, c := range []struct {
		name, reason string
		respond      func(int, seen, io.Writer) bool
		expression   string
		want         string // of the result
		note         string // of the note, where there is one
	}{
		{"JSON", "canonical, with every digit of a whole number", says(200, ` {"b": 9007199254740993, "a": 1.10} `), "", `{"a":1.1,"b":9007199254740993}`, ""},
		{"the default, written out", "the same as the default", says(200, `{"a":1.10}`), "${response.body}", `{"a":1.1}`, ""},
		{"a scalar", "any JSON is a result", says(200, `42`), "", `42`, ""},
		{"empty", "applied without a result", says(204, ""), "", "", ""},
		{"white space", "applied without a result", says(200, " \r\n"), "", "", ""},
		{"text", "a record holds JSON only", says(200, "thank you", "Content-Type: text/plain"), "", "", "not JSON"},
		{"bytes", "a record holds JSON only", says(200, "\xff\xfe\x00"), "", "", "not JSON"},
		{"too large to store", "a note with its size", says(200, `"`+strings.Repeat("x", effect.MaxResultBytes)+`"`), "", "", "too large"},
		{"too large to read", "reading stops at the limit", says(200, `"`+strings.Repeat("x", 2<<20)+`"`), "", "", "too large"},
		{"never ending", "reading stops at the limit", endless, "", "", "too large"},
		{"a part", "it keeps its type", says(200, `{"id": 9007199254740993}`), "${response.body.id}", `9007199254740993`, ""},
		{"status and header", "the whole answer can be used", says(201, "{}", "X-Id: 7"), `${response.status}/${response.headers["x-id"]}`, `"201/7"`, ""},
		{"an object", "CEL can make one", says(200, `{"id":7}`), `${{"id": response.body.id, "for": params.id}}`, `{"for":42,"id":7}`, ""},
		{"a part that is missing", "applied stays applied", says(200, `{}`), "${response.body.id}", "", "the result expression cannot be evaluated for this answer"},
		{"a part of a text", "applied stays applied", says(200, `done`), "${response.body.id}", "", "the result expression cannot be evaluated for this answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := receive(t, c.respond)
			outcome := executed(t, local(), post(r.url(), resulting(c.expression)))
			if outcome.Kind != v1alpha1.OutcomeApplied {
				t.Fatalf("%s: got %+v", c.reason, outcome)
			}
			if c.note == "" && string(outcome.Result) != c.want {
				t.Errorf("%s: got %s, want %s", c.reason, outcome.Result, c.want)
			}
			if note := noteOf(outcome); note.Note != c.note || (c.note != "" && (note.Size == 0 || note.Digest == "")) {
				t.Errorf("%s: got the note %+v, want %q", c.reason, note, c.note)
			}
		})
	}
}

func noteOf(outcome effect.Outcome) effect.Note {
	var note effect.Note
	_ = json.Unmarshal(outcome.Result, &note)
	return note
}

func TestANoteSaysWhatIsKnown(t *testing.T) {
	options := local()
	options.MaxResponseBytes = 10
	r := receive(t, says(200, "0123456789abc", "Content-Type: text/plain; charset=utf-8"))
	note := noteOf(executed(t, options, post(r.url())))
	if note.Size != 10 || !note.Truncated || note.ContentType != "text/plain; charset=utf-8" {
		t.Errorf("got %+v", note)
	}
	whole := receive(t, says(200, "0123456789"))
	if outcome := executed(t, options, post(whole.url())); noteOf(outcome).Truncated {
		t.Errorf("a body of just the limit is whole: got %s", outcome.Result)
	}
}

func TestResultsOfOtherOutcomes(t *testing.T) {
	for _, status := range []int{400, 429, 500} {
		r := receive(t, says(status, fmt.Sprintf(`{"status":%d}`, status)))
		if outcome := executed(t, local(), post(r.url())); outcome.Result != nil {
			t.Errorf("only what was applied has a result: got %+v", outcome)
		}
	}
}
