package report

import (
	"slices"
	"testing"
)

func TestWhatIsSaidOfPairs(t *testing.T) {
	of := func(seconds ...float64) Results {
		section := &Section{Name: SectionRate}
		into := section.Of(Busy)
		for _, s := range seconds {
			into.Pairs = append(into.Pairs, Pair{Sides: map[string]Sample{Operator: {Seconds: s}}})
		}
		return Results{SectionRate: section}
	}
	for _, tt := range []struct {
		seconds         []float64
		cell, inAColumn string
	}{
		{nil, "– s", "–"},
		{[]float64{2}, "2 s (once)", "measured once"},
		{[]float64{2, 2, 2}, "2 s", "2–2 of 3"},
		{[]float64{4, 2, 3}, "3 s (2–4)", "2–4 of 3"},
	} {
		got := of(tt.seconds...).spreadOf(SectionRate, Busy, Operator, func(s Sample) float64 { return s.Seconds })
		if worst := got.worst().median; got.pairs > 0 && worst != slices.Max(tt.seconds) {
			t.Errorf("%v: the worst is %v", tt.seconds, worst)
		}
		if got.in("s") != tt.cell || got.leastToMost() != tt.inAColumn {
			t.Errorf("%v: %q and %q", tt.seconds, got.in("s"), got.leastToMost())
		}
	}
}

func TestGroupOf(t *testing.T) {
	for _, tt := range []struct {
		want  string
		stack []string
	}{
		{"JSON", []string{"runtime.mallocgc", "reflect.New", "encoding/json.Unmarshal", "k8s.io/apiserver/pkg/endpoints/handlers.createHandler"}},
		{"requests of the API", []string{"runtime.memmove", "k8s.io/apiserver/pkg/endpoints/handlers.createHandler", "net/http.(*conn).serve"}},
		{"HTTP and TLS", []string{"internal/runtime/syscall.Syscall6", "syscall.write", "net.(*conn).Write", "crypto/tls.(*Conn).Write"}},
		{groupGarbage, []string{"runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker"}},
		{groupScheduler, []string{"runtime.futex", "runtime.schedule", "runtime.mcall"}},
	} {
		if got := GroupOf(tt.stack); got != tt.want {
			t.Errorf("%v is for %s, want %s", tt.stack, got, tt.want)
		}
	}
}
