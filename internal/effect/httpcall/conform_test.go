package httpcall

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

const apiKey = "k-4711-confidential"

// shop is a receiver of the conformance suite: it applies orders, and can be asked about them.
type shop struct {
	behaviour effecttest.Behaviour
	// once says that it recognises keys.
	once    bool
	reached chan struct{}

	mu            sync.Mutex
	sent, applied int
}

func (s *shop) respond(_ int, r seen, w io.Writer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodGet {
		write(w, map[bool]int{true: 200, false: 404}[s.applied > 0], `{"ok": true}`)
		return true
	}
	s.sent++
	switch s.behaviour {
	case effecttest.Refuse:
		write(w, 422, `{"why":"no such task"}`)
		return true
	case effecttest.RefuseSecret:
		write(w, 422, r.Header.Get("X-Api-Key"))
		return true
	case effecttest.LoseBefore:
		return false
	case effecttest.Hang:
		close(s.reached)
		_, _ = io.Copy(io.Discard, w.(io.Reader))
		return false
	}
	if !s.once || s.applied == 0 {
		s.applied++
	}
	return s.answer(r, w)
}

func (s *shop) answer(r seen, w io.Writer) bool {
	switch s.behaviour {
	case effecttest.LoseAfter:
		return false
	case effecttest.AnswerLarge:
		write(w, 200, `"`+strings.Repeat("x", effect.MaxResultBytes)+`"`)
	case effecttest.AnswerEmpty:
		write(w, 204, "")
	case effecttest.AnswerText:
		write(w, 200, "thank you", "Content-Type: text/plain")
	case effecttest.TellSecret:
		write(w, 200, `{"seen": "`+r.Header.Get("X-Api-Key")+`"}`)
	default:
		write(w, 200, `{"ok": true}`)
	}
	return true
}

// count reads a number under the mutex.
func (s *shop) count(n *int) func() int {
	return func() int { s.mu.Lock(); defer s.mu.Unlock(); return *n }
}

func (s *shop) build(t *testing.T, change func(*v1alpha1.TaskTemplateSpec)) *effecttest.Subject {
	url := "http://" + effecttest.ClosedAddress(t).String()
	if s.behaviour != effecttest.Unreachable {
		url = receive(t, s.respond).url()
	}
	options := local()
	options.Secret = secretsOf(map[string]string{"api/key": apiKey})
	return &effecttest.Subject{
		Effect: compiled(t, options, post(url, change, secretHeader("X-Api-Key", "api", "key"), verifiedAt(url,
			v1alpha1.ClassifyRule{When: "${response.status == 404}", Outcome: v1alpha1.OutcomeNotApplied},
			v1alpha1.ClassifyRule{When: "${response.status == 200}", Outcome: v1alpha1.OutcomeApplied}))),
		Sent: s.count(&s.sent), Applied: s.count(&s.applied), Secret: apiKey,
		Reached: func(ctx context.Context) error {
			select {
			case <-s.reached:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		},
	}
}

func TestConformance(t *testing.T) {
	effecttest.Conform(t, effecttest.World{Name: "http", Build: func(t *testing.T, behaviour effecttest.Behaviour) *effecttest.Subject {
		s := &shop{behaviour: behaviour, reached: make(chan struct{})}
		return s.build(t, func(*v1alpha1.TaskTemplateSpec) {})
	}})
	effecttest.Conform(t, effecttest.World{Name: "http, idempotent", Build: func(t *testing.T, behaviour effecttest.Behaviour) *effecttest.Subject {
		s := &shop{behaviour: behaviour, once: true, reached: make(chan struct{})}
		subject := s.build(t, idempotent)
		subject.Dedups = effecttest.DedupsKeys
		return subject
	}})
}
