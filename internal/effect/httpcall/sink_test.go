package httpcall

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

// Receivers as they are met in the field. What the lifecycle makes of these outcomes is not for here.

// It applies, drops the connection, and says "already done" in its own way when it is asked again.
func TestASinkThatAppliesAndThenSaysAlreadyDone(t *testing.T) {
	var effects atomic.Int32
	r := receive(t, func(n int, _ seen, w io.Writer) bool {
		if n == 1 {
			effects.Add(1)
			return false
		}
		write(w, 409, `{"code":"ALREADY_DONE","receipt":17}`)
		return true
	})
	for name, c := range map[string]struct {
		changes []func(*v1alpha1.TaskTemplateSpec)
		want    v1alpha1.Outcome
	}{
		"by the table, which cannot tell it from \"still at it\"": {[]func(*v1alpha1.TaskTemplateSpec){idempotent}, unknown},
		"by a rule": {[]func(*v1alpha1.TaskTemplateSpec){idempotent, classified(`${response.status == 409 && response.body.code == "ALREADY_DONE"}`, applied), resulting("${response.body.receipt}")}, applied},
	} {
		t.Run(name, func(t *testing.T) {
			r.mu.Lock()
			r.requests = nil
			r.mu.Unlock()
			effects.Store(0)
			one := compiled(t, local(), post(r.url(), c.changes...))
			if first := execute(t, one, effecttest.NewAttempt(1)); first.Kind != unknown {
				t.Fatalf("the first answer is lost: got %+v", first)
			}
			second := execute(t, one, effecttest.NewAttempt(2))
			if second.Kind != c.want || r.count() != 2 || effects.Load() != 1 || (c.want == applied) != (string(second.Result) == "17") {
				t.Errorf("got %+v after %d requests and %d effects", second, r.count(), effects.Load())
			}
			if keys := r.all(); keys[0].Header.Get("Idempotency-Key") != keys[1].Header.Get("Idempotency-Key") {
				t.Error("it was asked under another key")
			}
		})
	}
}

// It is down for maintenance until a date, by its own clock.
func TestASinkThatNamesADate(t *testing.T) {
	r := receive(t, says(503, "", "Date: Thu, 05 Nov 2026 12:00:00 GMT", "Retry-After: Thu, 05 Nov 2026 12:30:00 GMT"))
	outcome := executed(t, local(), post(r.url()))
	if outcome.Kind != unknown || outcome.RetryAfter != 30*time.Minute {
		t.Errorf("got %+v", outcome)
	}
}

// It sends the operator to where the node's credentials are.
func TestASinkThatRedirectsToTheMetadataService(t *testing.T) {
	for status, want := range map[int]v1alpha1.Outcome{302: unknown, 307: notApplied} {
		r := receive(t, says(status, "", "Location: http://169.254.169.254/latest/meta-data/iam"))
		options := local()
		dials := 0
		options.dialled = func() { dials++ }
		if outcome := executed(t, options, post(r.url())); outcome.Kind != want || dials != 1 || len(outcome.Result) > 0 {
			t.Errorf("%d: got %+v after %d connections", status, outcome, dials)
		}
	}
}

// Its answer, its headers or its hints never end. Reading stops at a limit, and the connection is closed.
func TestASinkThatNeverEnds(t *testing.T) {
	endless := func(head, unit string) func(int, seen, io.Writer) bool {
		return func(_ int, _ seen, w io.Writer) bool {
			_, err := io.WriteString(w, head)
			for err == nil {
				_, err = io.WriteString(w, strings.Repeat(unit, 1000))
			}
			return false
		}
	}
	for name, c := range map[string]struct {
		respond func(int, seen, io.Writer) bool
		want    v1alpha1.Outcome
		says    string
	}{
		"a body":            {endless("HTTP/1.1 200 OK\r\n\r\n", "x"), applied, `"note":"too large","size":65536,"truncated":true`},
		"chunks":            {endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"), applied, `"truncated":true`},
		"a refusal's body":  {endless("HTTP/1.1 422 No\r\n\r\n", "x"), notApplied, "422"},
		"headers":           {endless("HTTP/1.1 200 OK\r\n", "X-Bomb: x\r\n"), unknown, "may have applied"},
		"one header":        {endless("HTTP/1.1 200 OK\r\nX-Bomb: ", "x"), unknown, "may have applied"},
		"early hints":       {endless("", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"), unknown, "may have applied"},
		"a status line":     {endless("HTTP/1.1 200 ", "O"), unknown, "may have applied"},
		"a chunk extension": {endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "x"), unknown, "may have applied"},
	} {
		t.Run(name, func(t *testing.T) {
			options := local()
			options.MaxResponseBytes = 64 << 10
			outcome := executed(t, options, post(receive(t, c.respond).url()))
			if outcome.Kind != c.want || !strings.Contains(outcome.Message+string(outcome.Result), c.says) {
				t.Errorf("got %+v, want %s with %q", outcome, c.want, c.says)
			}
		})
	}
}

// It sends a little that would unpack to a lot, without having been asked for it.
func TestASinkWithAGzipBomb(t *testing.T) {
	var bomb bytes.Buffer
	packer := gzip.NewWriter(&bomb)
	_, _ = packer.Write(make([]byte, 4<<20))
	_ = packer.Close()
	r := receive(t, says(200, bomb.String(), "Content-Encoding: gzip", "Content-Type: application/json"))
	outcome := executed(t, local(), post(r.url()))
	if outcome.Kind != applied || !strings.Contains(string(outcome.Result), `"note":"not JSON"`) || r.all()[0].Header.Get("Accept-Encoding") != "" {
		t.Errorf("got %+v to a request with %v", outcome, r.all()[0].Header)
	}
}
