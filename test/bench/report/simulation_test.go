package report

import (
	"math"
	"testing"
)

func TestADayInSimulation(t *testing.T) {
	g := growth{submission: 600, record: 400, revisions: 1500, removal: 100}
	const plenty = 1 << 40
	for _, tt := range []struct {
		reason   string
		day      day
		quota    float64
		standing float64
		inUse    float64
		full     bool
	}{
		// After an hour what stands is an hour's, and at most ten minutes have two revisions more and leave what was removed.
		{"a sweep that keeps up", day{10, 3600, 20}, plenty, 36_000, 36_000*1000 + 600*10*(500+1100), false},
		{"a sweep that does not", day{10, 3600, 10}, plenty, 36_000 + 82_800*5, 0, false},
		{"what is never over", day{10, daySeconds, 20}, plenty, 864_000, 864_000*1000 + 600*10*500, false},
		{"etcd is full", day{10, daySeconds, 20}, 10e6, 0, 0, true},
	} {
		got := g.simulate(tt.day, tt.quota)
		if tt.full != (got.full > 0) {
			t.Errorf("%s: full after %d s", tt.reason, got.full)
		}
		if tt.standing > 0 && math.Abs(got.standing-tt.standing) > 1 {
			t.Errorf("%s: %v stand, want %v", tt.reason, got.standing, tt.standing)
		}
		if tt.inUse > 0 && math.Abs(got.inUse/tt.inUse-1) > 1e-3 {
			t.Errorf("%s: %v bytes, want %v", tt.reason, got.inUse, tt.inUse)
		}
	}
	if got := g.simulate(day{10, daySeconds, 20}, 10e6); got.full != 767 {
		t.Errorf("10 MB are full after %d s: there are 9 MB after ten minutes, 1.5 MB of them go, and 15 kB come each second", got.full)
	}
}
