package lifecycle

import (
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func TestConfirmNotAppliedForbidsFirst(t *testing.T) {
	confirm := func(changes ...func(*v1alpha1.TaskDecision)) option {
		return decided(v1alpha1.DecisionConfirmNotApplied, 1, changes...)
	}
	asks := recorded(unknown, because(v1alpha1.ReasonOutcomeUnknown))
	ended := "Store Failed/ConfirmedNotApplied, attempt 1 NotApplied"
	decideAll(t, []row{
		{"the receiver is made to refuse it before anything is stored", seen(asks, forbids, confirm()), "Forbid", ""},
		{"also while it is being cleared up", seen(recorded(unknown), forbids, confirm()), "Forbid", ""},
		{"also where the submission is gone", seen(asks, gone, forbids, confirm(naming(theRecord))), "Forbid", ""},
		{"an effect that has no way to that is taken at a person's word", seen(asks, verifies, confirm()), ended, "because"},
		{"a template that was edited cannot reach what the attempt reached", seen(asks, forbids, wasEdited, confirm()), ended, ""},
		{"neither can one that is gone", seen(asks, notFound, confirm()), ended, ""},
		{"what makes no sense is refused first", seen(asks, forbids, confirm(withResult(`1`))), "Judge Refused", "only ConfirmApplied"},
		{"it was applied, says a person: nothing is forbidden", seen(asks, forbids, decided(v1alpha1.DecisionConfirmApplied, 1)), "Store Success/ConfirmedApplied, attempt 1 Applied", ""},

		{"while it is under way", seen(asks, forbids, confirm(), forbidden(Report{}), flight(FlightRunning)), "Wait", ""},
		{"and what was decided later waits for it", seen(asks, forbids, confirm(), decided(v1alpha1.DecisionConfirmApplied, 1), forbidden(Report{}), flight(FlightRunning)), "Wait", ""},
		{"while a check is, whose word may be that it was applied", seen(recorded(unknown), forbids, confirm(), checked(Verification, Report{}), flight(FlightRunning)), "Wait", ""},
		{"while there is no slot", seen(asks, forbids, confirm(), flight(FlightFull)), "Wait 30s", ""},
		{"also where the submission is gone, and nothing else would look again", seen(asks, gone, forbids, confirm(naming(theRecord)), flight(FlightFull)), "Wait 30s", ""},
		{"but what is not tried yet asked for none", seen(asks, forbids, confirm(triedAgainIn(time.Second)), flight(FlightFull)), "Wait 1s", ""},

		{"done", seen(asks, forbids, confirm(), forbidden(refusal)), ended, "because"},
		{"done, and meanwhile withdrawn", seen(asks, forbids, forbidden(refusal)), "Abandon", ""},
		{"done, for an attempt that is over", seen(recorded(unknown, number(2)), forbids, decided(v1alpha1.DecisionConfirmNotApplied, 2), forbidden(refusal)), "Abandon", ""},
		{"the truth wins", seen(asks, forbids, confirm(), forbidden(applied)), "Store Success/VerifiedApplied, attempt 1 Applied", ""},
		{"and the decision is told so", seen(recorded(ends(v1alpha1.PhaseSuccess, v1alpha1.ReasonVerifiedApplied)), forbids, confirm()), "Judge Superseded", "it was applied"},
		{"an end that nothing was said about is no truth", seen(recorded(hasFailed), forbids, confirm()), "Judge Refused", "has finished"},
		{"and where it had failed meanwhile, it is a late report", seen(recorded(hasFailed), forbids, forbidden(applied)), "Store Failed/Rejected, attempt 1 NotApplied", ""},

		{"it cannot be reached", seen(asks, forbids, confirm(), forbidden(noAnswer)), "Adjourn 30s", "no answer"},
		{"a session is still open", seen(asks, forbids, confirm(), forbidden(inProgress)), "Adjourn 30s", "202"},
		{"then it waits for its time", seen(asks, forbids, confirm(triedAgainIn(time.Second))), "Wait 1s", ""},
		{"also where the action waits for longer", seen(recorded(unknown, nextIn(time.Hour)), forbids, confirm(triedAgainIn(time.Second))), "Wait 1s", ""},
		{"while what clears it up goes on", seen(recorded(unknown), forbids, confirm(triedAgainIn(time.Second))), "Verify", ""},
		{"and others are judged", seen(asks, forbids, confirm(triedAgainIn(time.Second)), decided(v1alpha1.DecisionConfirmApplied, 1)), "Store Success/ConfirmedApplied, attempt 1 Applied", ""},
		{"and is tried again", seen(asks, forbids, confirm(triedAgainIn(0))), "Forbid", ""},

		{"restored from a backup: what followed is not known", seen(recorded(unknown, fromBackup), forbids, confirm(), forbidden(refusal)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
	})
}

func TestTheStatusSaysWhyADecisionWaits(t *testing.T) {
	given := seen(recorded(unknown, because(v1alpha1.ReasonOutcomeUnknown)), forbids, decided(v1alpha1.DecisionConfirmNotApplied, 1, triedAgainIn(time.Second)))
	if got := Project(given); got.Reason != v1alpha1.ReasonOutcomeUnknown || got.Message != "not yet" {
		t.Errorf("got %s: %s", got.Reason, got.Message)
	}
}
