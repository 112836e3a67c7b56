package httpcall

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

// behave returns what a receiver does, and how often its effect happened.
func behave(behaviour effecttest.Behaviour, applied *int) func(int, seen, io.Writer) bool {
	return func(_ int, _ seen, w io.Writer) bool {
		switch behaviour {
		case effecttest.Refuse:
			write(w, 422, `{"why":"no such task"}`)
			return true
		case effecttest.LoseBefore:
			return false
		}
		*applied++ // the test reads it after the answer, or after the connection was closed
		switch behaviour {
		case effecttest.LoseAfter:
			return false
		case effecttest.AnswerLarge:
			write(w, 200, `"`+strings.Repeat("x", effect.MaxResultBytes)+`"`)
		case effecttest.AnswerEmpty:
			write(w, 204, "")
		case effecttest.AnswerText:
			write(w, 200, "thank you", "Content-Type: text/plain")
		default:
			write(w, 200, `{"ok": true}`)
		}
		return true
	}
}

func TestConformance(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.TaskTemplateSpec){
		"receiver not idempotent": func(*v1alpha1.TaskTemplateSpec) {},
		"receiver idempotent":     idempotent,
	} {
		t.Run(name, func(t *testing.T) {
			effecttest.Conform(t, func(t *testing.T, behaviour effecttest.Behaviour) effecttest.Subject {
				if behaviour == effecttest.Unreachable {
					nothing := func() int { return 0 }
					return effecttest.Subject{Effect: compiled(t, local(), post("http://"+closedPort(t), change)), Sent: nothing, Applied: nothing}
				}
				var applied int
				r := receive(t, nil)
				r.respond = r.locked(behave(behaviour, &applied))
				return effecttest.Subject{
					Effect:  compiled(t, local(), post(r.url(), change)),
					Sent:    r.count,
					Applied: func() int { r.mu.Lock(); defer r.mu.Unlock(); return applied },
				}
			})
		})
	}
}

// locked runs a responder under the receiver's mutex.
func (r *receiver) locked(respond func(int, seen, io.Writer) bool) func(int, seen, io.Writer) bool {
	return func(n int, one seen, w io.Writer) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return respond(n, one, w)
	}
}

// closedPort returns an address on which nothing listens.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
