package page

import (
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func TestWhatIsOfTheLastHour(t *testing.T) {
	for _, test := range []struct {
		reason string
		row    Row
		at     int // the minute of the hour; -1: none
	}{
		{"just now", done(v1alpha1.PhaseSuccess, 0, time.Second), 59},
		{"at the beginning of this minute", done(v1alpha1.PhaseFailed, 30*time.Second, time.Second), 59},
		{"a minute before", done(v1alpha1.PhaseSuccess, 31*time.Second, time.Second), 58},
		{"as long ago as is told", done(v1alpha1.PhaseFailed, 59*time.Minute+30*time.Second, time.Second), 0},
		{"longer ago", done(v1alpha1.PhaseSuccess, 59*time.Minute+31*time.Second, time.Second), -1},
		{"an hour later by the operator's clock", done(v1alpha1.PhaseSuccess, -time.Hour, time.Second), 59},
		{"an earlier one's outcome", done(v1alpha1.PhaseSuccess, 0, time.Second, func(r *Row) { r.Replayed = true }), -1},
		{"without a time", row("x", v1alpha1.PhaseFailed, v1alpha1.ReasonInvalidName, 0), -1},
	} {
		var h history
		h.add(test.row, noon)
		for i, m := range h.within(noon) {
			want := 0
			if i == test.at {
				want = 1
			}
			success := m.success == want && m.failed == 0
			failed := m.failed == want && m.success == 0
			if wanted := test.row.Phase == v1alpha1.PhaseSuccess; wanted && !success || !wanted && !failed || int(m.took.total) != want {
				t.Errorf("%s: in minute %d there are %d and %d", test.reason, i, m.success, m.failed)
			}
		}
		if got := len(h.latest(noon)); (got == 1) != (test.at >= 0) {
			t.Errorf("%s: %d are among the last", test.reason, got)
		}
	}
}

// TestTheHourGoesOn: a minute that has become history makes room for a new one, and what comes late for it is left out.
func TestTheHourGoesOn(t *testing.T) {
	var h history
	h.add(done(v1alpha1.PhaseSuccess, 10*time.Minute, 0), noon)
	later := noon.Add(50 * time.Minute)
	h.add(done(v1alpha1.PhaseFailed, -50*time.Minute, 0), later)
	hour := h.within(later)
	if hour[59].failed != 1 || hour[59].success != 0 {
		t.Errorf("the new minute is %+v", hour[59])
	}
	h.add(done(v1alpha1.PhaseSuccess, 10*time.Minute, 0), later)
	if again := h.within(later); again[59].success != 0 {
		t.Error("what is older than the hour was counted in the minute that took its place")
	}
	if last := h.latest(later); len(last) != 1 || last[0].Phase != v1alpha1.PhaseFailed {
		t.Errorf("the last are %v", last)
	}
}

func TestTheLastComeFirst(t *testing.T) {
	var h history
	for i := range 3 * kept {
		ago := time.Duration((i*37)%(3*kept)) * time.Second // each once, in no order
		h.add(done(v1alpha1.PhaseSuccess, ago, 0), noon)
	}
	last := h.latest(noon)
	if len(last) != kept {
		t.Fatalf("%d are kept", len(last))
	}
	for i := range last {
		if want := noon.Add(-time.Duration(i) * time.Second); !last[i].Ended.Equal(want) {
			t.Errorf("number %d finished at %s, want %s", i, last[i].Ended, want)
		}
	}
}

func TestSpread(t *testing.T) {
	var s spread
	if s.within(0.5) >= 0 {
		t.Error("nothing was, and took some time")
	}
	for i := range 100 {
		s.add(time.Duration(i+1) * time.Second / 10) // 0 to 10 seconds
	}
	s.add(-time.Hour)         // a clock that was set back
	s.add(10_000 * time.Hour) // longer than can be told
	for _, test := range []struct{ share, seconds float64 }{{0, 0}, {0.5, 5}, {0.95, 9}, {0.99, 10}} {
		if got := s.within(test.share); got != test.seconds {
			t.Errorf("%v of them within %v s, want %v", test.share, got, test.seconds)
		}
	}
	if got := s.within(1); got < 180*86400 {
		t.Errorf("all of them within %v s", got)
	}
	var other spread
	other.add(20 * time.Second)
	s = spread{}
	s.merge(&other)
	if got := s.within(1); got < 20 || got > 22 || s.total != 1 {
		t.Errorf("what was merged took %v s", got)
	}
}

// TestSpreadIsCloseEnough: a tenth more at most, and never less than it was.
func TestSpreadIsCloseEnough(t *testing.T) {
	for seconds := 1; seconds < 7*86400; seconds += 1 + seconds/50 {
		var s spread
		s.add(time.Duration(seconds) * time.Second)
		if got := s.within(1); got > float64(seconds)*1.1 || got < float64(seconds) {
			t.Errorf("%d s are told as %v s", seconds, got)
		}
	}
}
