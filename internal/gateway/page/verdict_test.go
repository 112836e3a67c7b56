package page

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// TestWhoIsLookedAtNext: each in its turn, those first that were never looked at; and what does not ask is not.
func TestWhoIsLookedAtNext(t *testing.T) {
	s := newSubmissions(atNoon)
	put := func(name string, reason v1alpha1.Reason) {
		r := row(name, v1alpha1.PhaseProcessing, reason, time.Minute)
		s.living[r.NamespacedName] = r
	}
	for i := range 3 * lookAt {
		put(fmt.Sprint(i), v1alpha1.ReasonRetrying)
	}
	put("runs", v1alpha1.ReasonExecuting)
	p := &Page{submissions: []*submissions{s}, verdicts: map[types.NamespacedName]verdict{{Name: "gone"}: {}}}
	looked := map[string]int{}
	for i := range 6 {
		next := p.candidates()
		if len(next) != lookAt {
			t.Fatalf("%d are looked at", len(next))
		}
		for _, r := range next {
			looked[r.Name]++
			p.verdicts[r.NamespacedName] = verdict{reason: r.Reason, at: noon.Add(time.Duration(i) * time.Second)}
		}
	}
	for i := range 3 * lookAt {
		if n := looked[fmt.Sprint(i)]; n != 2 {
			t.Errorf("%d was looked at %d times in two rounds", i, n)
		}
	}
	if _, kept := p.verdicts[types.NamespacedName{Name: "gone"}]; kept || looked["runs"] > 0 {
		t.Error("a verdict about nothing is kept, or what does not ask was looked at")
	}
}
