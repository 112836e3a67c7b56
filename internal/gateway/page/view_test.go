package page

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
)

func TestWhoWaitsForAPerson(t *testing.T) {
	name := types.NamespacedName{Namespace: "shop", Name: "one"}
	held := map[types.NamespacedName]verdict{name: {reason: v1alpha1.ReasonBusinessKeyHeld, what: "its business key"}}
	for _, test := range []struct {
		reason    string
		known     known
		waits     string // for what; empty: nothing waits
		inProcess int
	}{
		{"somebody must approve", known{rows: []Row{row("one", v1alpha1.PhasePending, v1alpha1.ReasonAwaitingApproval, 0)}}, "an approval", 0},
		{"it runs", known{rows: []Row{row("one", v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting, 0)}}, "", 1},
		{"held, and nobody has looked yet", known{rows: []Row{row("one", v1alpha1.PhasePending, v1alpha1.ReasonBusinessKeyHeld, 0)}}, "", 1},
		{"held by what is gone", known{rows: []Row{row("one", v1alpha1.PhasePending, v1alpha1.ReasonBusinessKeyHeld, 0)}, verdicts: held}, "its business key", 0},
		{"not held any more", known{rows: []Row{row("one", v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying, 0)}, verdicts: held}, "", 1},
		{"nothing but a record is left", known{abandoned: []Row{row("one", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown, 0)}}, inbox.Asks(v1alpha1.ReasonOutcomeUnknown), 0},
		{"it is there, and so is its record", known{
			rows:      []Row{row("one", v1alpha1.PhaseProcessing, v1alpha1.ReasonVerifying, 0)},
			abandoned: []Row{row("one", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown, 0)},
		}, "", 1},
	} {
		view := build(test.known, noon)
		waits := ""
		if len(view.Waiting.Items) > 0 {
			waits = view.Waiting.Items[0].For
		}
		if waits != test.waits || view.InProcess.Total != test.inProcess {
			t.Errorf("%s: it waits for %q, and %d are in process", test.reason, waits, view.InProcess.Total)
		}
		if gone := len(view.Waiting.Items) > 0 && view.Waiting.Items[0].Deleted; gone != (len(test.known.rows) == 0) {
			t.Errorf("%s: its submission is said to be gone: %v", test.reason, gone)
		}
	}
}

// TestTheOldestAreShown, of however many there are, and each is counted.
func TestTheOldestAreShown(t *testing.T) {
	k := known{}
	for i := range 10_000 {
		ago := time.Duration((i*7919)%10_000) * time.Second // each once, in no order
		reason := v1alpha1.ReasonLimitReached
		if i%4 == 0 {
			reason = v1alpha1.ReasonNotYet // waits for a time of its own, so it is not late
		}
		k.rows = append(k.rows, row(fmt.Sprint(i), v1alpha1.PhasePending, reason, ago))
	}
	k.rows = append(k.rows, row("late", v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting, 2*time.Hour, func(r *Row) { r.Begun = noon.Add(-3 * time.Hour) }))
	got := build(k, noon).InProcess
	if got.Total != 10_001 || len(got.Items) != shown {
		t.Errorf("%d, and %d are shown", got.Total, len(got.Items))
	}
	if want := []Count{{v1alpha1.ReasonLimitReached, 7500}, {v1alpha1.ReasonNotYet, 2500}, {v1alpha1.ReasonExecuting, 1}}; fmt.Sprint(got.Reasons) != fmt.Sprint(want) {
		t.Errorf("the reasons are %v", got.Reasons)
	}
	if first := got.Items[0]; first.Name != "late" || !first.Since.Equal(noon.Add(-3*time.Hour)) {
		t.Errorf("the first is %+v", first)
	}
	for i, item := range got.Items[1:] {
		if item.Since.Before(got.Items[i].Since) || item.Reason == v1alpha1.ReasonNotYet {
			t.Errorf("number %d is %+v", i+1, item)
		}
	}
}

func TestRecent(t *testing.T) {
	var h history
	for i := range kept - 1 {
		h.add(done(v1alpha1.PhaseSuccess, 0, time.Duration(i)*time.Second), noon)
	}
	h.add(done(v1alpha1.PhaseFailed, 5*time.Minute, 90*time.Second), noon)
	got := build(known{hour: h.within(noon), last: h.latest(noon)}, noon).Recent
	if got.Success != 19 || got.Failed != 1 || len(got.Minutes) != minutes || len(got.Items) != kept {
		t.Errorf("%d, %d, %d minutes, %d items", got.Success, got.Failed, len(got.Minutes), len(got.Items))
	}
	now := got.Minutes[59]
	if !now.At.Equal(noon.Truncate(time.Minute)) || now.Success != 19 || *now.Median != 9 || *now.Most != 19 {
		t.Errorf("this minute is %+v", now)
	}
	if then := got.Minutes[54]; then.Failed != 1 || got.Minutes[53].Median != nil {
		t.Errorf("the minute of the failed one is %+v, and the one before %+v", then, got.Minutes[53])
	}
	if last := got.Items[kept-1]; last.Phase != v1alpha1.PhaseFailed || *last.Took != 90 || !last.Since.Equal(noon.Add(-5*time.Minute)) {
		t.Errorf("the failed one is %+v", last)
	}
}

// TestAnEmptyViewHasLists: a browser that counts what is there finds none, and not nothing.
func TestAnEmptyViewHasLists(t *testing.T) {
	said, err := json.Marshal(build(known{}, noon))
	if err != nil || strings.Contains(string(said), "null") {
		t.Errorf("%v: %s", err, said)
	}
}
