package inflight_test

import (
	"testing"
	"time"

	"github.com/taskonce/taskonce/internal/inflight"
)

// Where the rate is used up, each who asks gets a turn of its own: told the same time, all would ask again at once,
// and all but one in vain.
func TestTheRateGivesEachATurnOfItsOwn(t *testing.T) {
	w := newWorld(t, 100)
	bounds := template("slow", 100, 1)
	w.take("a", bounds)

	second, third := w.refuse("b", bounds), w.refuse("c", bounds)
	if now := w.clock.Now(); !second.Equal(now.Add(time.Second)) || !third.Equal(now.Add(2*time.Second)) {
		t.Errorf("b may begin after %v and c after %v; want 1s and 2s", second.Sub(now), third.Sub(now))
	}
	if again := w.refuse("b", bounds); !again.Equal(second) {
		t.Errorf("asked again, b is told %v; want %v: asking costs no turn", again, second)
	}
	w.clock.Step(time.Second)
	w.take("b", bounds)
	if again := w.refuse("c", bounds); !again.Equal(third) {
		t.Errorf("c is told %v after b has begun; want %v still", again, third)
	}
	w.table.GiveUpTurn(named("c"))
	if fourth := w.refuse("d", bounds); !fourth.Equal(third) {
		t.Errorf("d may begin at %v; want %v, the turn that c gave back", fourth, third)
	}
}

// For how long an action has been asking is counted from its first question until it gets a slot or leaves.
func TestAskingIsOneQuestion(t *testing.T) {
	for _, tt := range []struct {
		reason string
		bounds inflight.Bulkhead
	}{
		{"no place is free", template("t", 1, 0)},
		{"the rate is used up", template("t", 1, 1)},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			w := newWorld(t, 100)
			first := w.take("a", tt.bounds)
			asked := func(want time.Duration) {
				t.Helper()
				w.clock.Step(400 * time.Millisecond)
				if _, turn := w.reserve("b", tt.bounds); turn.Asked != want {
					t.Errorf("b has been asking for %v; want %v", turn.Asked, want)
				}
			}
			asked(0)
			asked(400 * time.Millisecond)
			w.table.GiveUpTurn(named("b"))
			asked(0)
			first.Remove()
			w.clock.Step(2 * time.Second)
			w.take("b", tt.bounds).Remove()
			w.clock.Step(2 * time.Second)
			w.take("a", tt.bounds)
			asked(0)
		})
	}
}
