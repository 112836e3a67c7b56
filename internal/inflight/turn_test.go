package inflight_test

import (
	"testing"
	"time"
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
	w.table.Leave(named("c"))
	if fourth := w.refuse("d", bounds); !fourth.Equal(third) {
		t.Errorf("d may begin at %v; want %v, the turn that c gave back", fourth, third)
	}
}
