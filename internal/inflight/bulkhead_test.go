package inflight_test

import (
	"testing"
	"time"

	"github.com/taskonce/taskonce/internal/inflight"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

func TestASlowTemplateDelaysItsOwnSubmissionsOnly(t *testing.T) {
	w := newWorld(t, 100)
	slow, quick := template("slow", 2, 0), template("quick", 2, 0)
	first := w.take("slow-1", slow)
	w.take("slow-2", slow)
	if at := w.refuse("slow-3", slow); !at.IsZero() {
		t.Errorf("no time frees a slot, but it says %v", at)
	}
	w.take("quick-1", quick)

	first.Remove()
	w.wantWoken("slow-3")
	w.take("slow-3", slow)
	w.refuse("slow-4", slow)
}

func TestWaitersAreWokenInTheirOrderOneForEachSlot(t *testing.T) {
	w := newWorld(t, 100)
	one := template("t", 1, 0)
	flight := w.take("a", one)
	for range 3 { // asking again keeps the place
		w.refuse("b", one)
		w.refuse("c", one)
	}
	flight.Remove()
	w.wantWoken("b")
	flight.Remove() // a second time gives nothing back
	w.wantWoken()
	w.take("b", one).Remove()
	w.wantWoken("c")
}

func TestTheTotalBoundWakesWhoeverWaits(t *testing.T) {
	w := newWorld(t, 1)
	flight := w.take("a", template("one", 5, 0))
	w.refuse("b", template("other", 5, 0))
	flight.Remove()
	w.wantWoken("b")
}

func TestOneActionHasOneFlight(t *testing.T) {
	w := newWorld(t, 100)
	w.take("a", template("t", 5, 0))
	w.refuse("a", template("t", 5, 0))
}

func TestWhoLeavesPassesItsSlotOn(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit int
		third inflight.Bulkhead
	}{
		{"within its template", 100, template("t", 1, 0)},
		{"to another template, where the bound on all is what was waited for", 1, template("other", 1, 0)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.limit)
			flight := w.take("first", template("t", 1, 0))
			w.refuse("second", template("t", 1, 0))
			w.refuse("third", tt.third)
			flight.Remove()
			w.wantWoken("second")
			w.table.GiveUpTurn(named("second")) // it was deleted meanwhile
			w.wantWoken("third")
		})
	}
}

// The bulkhead that somebody was woken from may be gone, and its template have another, before that one answers.
func TestWhoLeavesLateLeavesTheBulkheadOfOthersAlone(t *testing.T) {
	w := newWorld(t, 100)
	one := template("t", 1, 0)
	first := w.take("first", one)
	w.refuse("late", one)
	first.Remove()
	w.wantWoken("late")
	other := w.take("other", one)
	w.table.GiveUpTurn(named("late"))
	w.refuse("third", one)
	other.Remove()
	w.wantWoken("third")
}

func TestWhoNeverAskedLeavesWithoutATrace(t *testing.T) {
	w := newWorld(t, 1)
	flight := w.take("first", template("t", 1, 0))
	w.refuse("second", template("t", 1, 0))
	w.table.GiveUpTurn(named("stranger"))
	w.table.GiveUpTurn(named("first"))
	w.wantWoken()
	flight.Remove()
	w.wantWoken("second")
}

func TestBoundsFollowTheTemplate(t *testing.T) {
	w := newWorld(t, 100)
	w.take("a", template("t", 1, 0))
	w.refuse("b", template("t", 1, 0))
	w.take("b", template("t", 2, 0))
	w.refuse("c", template("t", 1, 0))
}

func TestTheRateSpreadsBegins(t *testing.T) {
	w := newWorld(t, 100)
	two := template("t", 100, 2)
	w.take("a", two).Remove()
	w.take("b", two).Remove()
	at := w.refuse("c", two)
	if wait := at.Sub(w.clock.Now()); wait <= 0 || wait > 500*time.Millisecond {
		t.Fatalf("allowed again in %v, want at most half a second", wait)
	}
	w.refuse("c", two) // asking uses nothing up
	w.clock.SetTime(at)
	w.take("c", two)
	w.refuse("d", two)
	w.take("d", template("other", 100, 2))
}

func TestChecksDoNotCountAgainstTheRate(t *testing.T) {
	w := newWorld(t, 100)
	one := template("t", 100, 1)
	w.take("a", one)
	w.refuse("b", one)
	check, _ := w.table.Reserve(inflight.Ticket{Action: named("b"), Kind: lifecycle.Verification, Timeout: time.Second, Bulkhead: one})
	if check == nil {
		t.Error("a check was refused")
	}
}

func TestARateThatIsUsedUpHoldsNobodyElseBack(t *testing.T) {
	w := newWorld(t, 1)
	rated, other := template("rated", 5, 1), template("other", 5, 0)
	flight := w.take("a", rated)
	w.refuse("b", rated)
	w.refuse("c", other)
	flight.Remove()
	w.wantWoken("b")
	if at := w.refuse("b", rated); at.IsZero() {
		t.Error("it does not say when to ask again")
	}
	w.wantWoken("c") // the slot that b cannot use yet
}
