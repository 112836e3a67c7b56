package lifecycle

import (
	"fmt"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// words says what a step is, and of what it stores: phase/reason, the attempt and its outcome, unsettled, the wait.
func words(o *Observation, step Step) string {
	switch step := step.(type) {
	case Begin:
		return fmt.Sprintf("Begin %d", step.Action.Attempt.Number)
	case Store:
		return "Store " + actionWords(o, &step.Action)
	case Check:
		return map[FlightKind]string{Poll: "Poll", Verification: "Verify", SettledVerification: "Verify settled", Prohibition: "Forbid", Preparation: "Prepare"}[step.Kind]
	case Judge:
		return "Judge " + string(step.State)
	case Adjourn:
		return "Adjourn " + step.At.Sub(o.Now).String()
	case Wait:
		quiet := map[bool]string{true: " quiet"}[step.Quiet]
		if step.In == 0 {
			return "Wait" + quiet
		}
		return "Wait " + step.In.String() + quiet
	default:
		return strings.TrimPrefix(fmt.Sprintf("%T", step), "lifecycle.")
	}
}

func actionWords(o *Observation, a *v1alpha1.Action) string {
	said := fmt.Sprintf("%s/%s, attempt %d", a.Phase, a.Reason, a.Attempt.Number)
	if a.Attempt.Number > 0 {
		said += " " + orElse(string(a.Attempt.Outcome), "open")
	}
	if a.Unsettled {
		said += ", unsettled"
	}
	if a.NextAt != nil {
		said += ", in " + a.NextAt.Sub(o.Now).String()
	}
	return said
}

// said is what a step tells a person.
func said(step Step) string {
	switch step := step.(type) {
	case Begin:
		return step.Action.Message
	case Store:
		return step.Action.Message
	case Judge:
		return step.Message
	case Adjourn:
		return step.Message
	}
	return ""
}

// row is one line of a table: what is seen, and the step that follows, in words.
type row struct {
	reason string
	given  Observation
	want   string
	says   string // part of the message, where one is awaited
}

func decideAll(t *testing.T, rows []row) {
	t.Helper()
	for _, row := range rows {
		t.Run(strings.ReplaceAll(row.reason, " ", "_"), func(t *testing.T) {
			before := snapshot(t, row.given)
			step := Decide(row.given)
			if got := words(&row.given, step); got != row.want {
				t.Errorf("%s:\n got %s\nwant %s\n%q", row.reason, got, row.want, said(step))
			}
			if !strings.Contains(said(step), row.says) {
				t.Errorf("%s: it says %q, and not %q", row.reason, said(step), row.says)
			}
			checkUntouched(t, before, row.given)
			checkStep(t, row.given, step)
		})
	}
}
