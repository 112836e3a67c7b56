package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

const (
	// firstProbe is how long nothing new begins after a receiver refused a template's credentials. Then one attempt
	// goes through to find out; the wait doubles with each, up to longestProbe.
	firstProbe   = 10 * time.Second
	longestProbe = 5 * time.Minute
)

// Receivers is what this process knows of whether receivers accept the credentials of templates. Losing it costs an
// attempt that is refused. What is known is of one effect digest: an edited effect starts anew.
type Receivers struct {
	clock   clock.PassiveClock
	changed wakeQueue // of the templates' reconciler

	mu    sync.Mutex
	known map[types.NamespacedName]*heard
}

// heard is what answers said of the credentials of one effect.
type heard struct {
	digest  string
	refuses bool
	message string
	probes  int
	until   time.Time
}

// NewReceivers knows nothing yet.
func NewReceivers(clock clock.PassiveClock) *Receivers {
	return &Receivers{clock: clock, known: map[types.NamespacedName]*heard{}}
}

// hear takes in what an attempt came to, and reports whether credentials that were refused are accepted now.
func (r *Receivers) hear(template types.NamespacedName, digest string, outcome *effect.Outcome) (recovered bool) {
	if outcome.Credentials == "" {
		return false
	}
	refuses := outcome.Credentials == effect.CredentialsRefused
	r.mu.Lock()
	before := r.of(template, digest)
	news := before == nil || before.refuses != refuses
	if news {
		r.known[template] = &heard{digest: digest, refuses: refuses, message: outcome.Message, until: r.clock.Now().Add(firstProbe)}
	}
	r.mu.Unlock()
	if news {
		r.changed.wake(template)
	}
	return before != nil && before.refuses && !refuses
}

// of returns what is known of a template's effect, or nil.
func (r *Receivers) of(template types.NamespacedName, digest string) *heard {
	if known := r.known[template]; known != nil && known.digest == digest {
		return known
	}
	return nil
}

// pause returns the pause of a template's new attempts, or nil.
func (r *Receivers) pause(template types.NamespacedName, digest string) *lifecycle.Pause {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.of(template, digest); known != nil && known.refuses {
		return &lifecycle.Pause{Until: known.until, Message: known.message}
	}
	return nil
}

// admit lets an attempt begin and returns nil, or returns the pause that keeps it from it. When a wait is over it lets
// one through.
func (r *Receivers) admit(template types.NamespacedName, digest string) *lifecycle.Pause {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.of(template, digest)
	if known == nil || !known.refuses {
		return nil
	}
	if now := r.clock.Now(); !now.Before(known.until) {
		known.probes++
		known.until = now.Add(min(firstProbe<<min(known.probes, 8), longestProbe))
		return nil
	}
	return &lifecycle.Pause{Until: known.until, Message: known.message}
}

// health returns whether a template's credentials are accepted, and what was said where they are not; false: not known.
func (r *Receivers) health(template types.NamespacedName, digest string) (accepted bool, message string, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.of(template, digest)
	if last == nil {
		return false, "", false
	}
	return !last.refuses, last.message, true
}

// forget drops what is known of a template that is gone.
func (r *Receivers) forget(template types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, template)
}
