package effect_test

import (
	"testing"
	"time"

	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

func TestBothClocksCount(t *testing.T) {
	begin := time.Now()
	deadline := begin.Add(time.Minute)
	for name, c := range map[string]struct {
		now  time.Time
		want bool
	}{
		"in time":                   {deadline.Add(-1), false},
		"at the deadline":           {deadline, true},
		"suspended, and woken late": {effecttest.ShiftWall(begin, time.Hour), true},
		"late, with a wall clock that was set back": {effecttest.ShiftWall(deadline, -time.Hour), true},
	} {
		if got := effect.Over(c.now, deadline); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
