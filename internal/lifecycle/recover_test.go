package lifecycle

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func TestOrphanRule7Hazard5(t *testing.T) {
	theirs := recorded(executor(somebodyElse))
	decideAll(t, []row{
		{"its whole time-out and a grace are waited for", seen(theirs), "Wait 15s", ""},
		{"counted from when it was first seen", seen(theirs, sighted(14*time.Second)), "Wait 1s", ""},
		{"then it is Unknown", seen(theirs, sighted(15*time.Second)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", "may have been applied"},
		{"the stored time-out counts, not the template's", seen(theirs, sighted(14*time.Second), template(func(t *Template) { t.Timeout = time.Second })), "Wait 1s", ""},
		{"the wall clock does not count", seen(theirs, later(time.Hour), sighted(time.Second)), "Wait 14s", ""},
		{"hazard 13: without its submission too", seen(theirs, gone, sighted(15*time.Second)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"without its template too", seen(theirs, notFound, sighted(15*time.Second)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"hazard 8: one's own, which is not in the table, is one too", seen(recorded(), sighted(15*time.Second)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"rule 4: with a business key the claim is read", seen(theirs, businessKey, sighted(15*time.Second)), "ReadClaim", ""},
		{"rule 4: no claim, so it was never sent", seen(theirs, businessKey, claimFree, sighted(15*time.Second)), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", "never sent"},
		{"rule 4: another's claim, so it was never sent", seen(theirs, businessKey, claimedByOther(), sighted(15*time.Second)), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", "never sent"},
		{"rule 4: its claim, so it may have been sent", seen(theirs, businessKey, claimedByMe, sighted(15*time.Second)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"the rule is off", seen(theirs, func(o *Observation) { o.Off.OrphanWait = true }), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
	})
}

func TestRecoverRule6(t *testing.T) {
	decideAll(t, []row{
		{"verified at once", seen(recorded(unknown), verifies), "Verify", ""},
		{"hazard 4: before its settling time a no is not believed", seen(recorded(unknown), verifies, sighted(30*time.Second-1)), "Verify", ""},
		{"hazard 4: after it a no is", seen(recorded(unknown), verifies, sighted(30*time.Second)), "Verify settled", ""},
		{"the next check has its time", seen(recorded(unknown, nextIn(time.Minute)), verifies), "Wait 1m0s", ""},
		{"a check needs a slot", seen(recorded(unknown), verifies, flight(FlightFull)), "Wait 30s", ""},
		{"hazard 13: its submission is gone, and it is verified", seen(recorded(unknown), gone, verifies), "Verify", ""},
		{"its submission is being deleted, and it is verified", seen(recorded(unknown), deleting, verifies), "Verify", ""},
		{"what cannot be verified and not be repeated goes to a person", seen(recorded(unknown)), "Store Processing/OutcomeUnknown, attempt 1 Unknown, unsettled", "no verification, and its receiver is not idempotent"},
		{"the template must be there", seen(recorded(unknown), verifies, notFound), "Wait", ""},
		{"the template must compile", seen(recorded(unknown), replaySafe, notReady), "Wait", ""},
		{"Manual asks always", seen(recorded(unknown), verifies, replaySafe, manual), "Store Processing/OutcomeUnknown, attempt 1 Unknown, unsettled", "to a person"},
		{"hazard 12: another effect cannot say", seen(recorded(unknown), verifies, replaySafe, wasEdited), "Store Processing/OutcomeUnknown, attempt 1 Unknown, unsettled", "was changed since"},
		{"I9: an exhausted budget asks, and never fails", seen(recorded(unknown, checks(4)), verifies, replaySafe), "Store Processing/OutcomeUnknown, attempt 1 Unknown, unsettled", "4 checks, which is recovery.maxChecks, have not cleared it up; look at the receiver, then make a TaskDecision for attempt 1 with action ConfirmApplied"},
		{"the last check of the budget", seen(recorded(unknown, checks(3)), verifies), "Verify", ""},
		{"what was asked waits for the answer", seen(recorded(unknown, because(v1alpha1.ReasonOutcomeUnknown)), verifies, replaySafe), "Wait", ""},
		{"suspension does not stop what has begun", seen(recorded(unknown), verifies, suspended), "Verify", ""},
	})
	o := seen(recorded(unknown), verifies)
	o.Off.SettleAfter = true
	if step := Decide(o); step != (Check{Kind: SettledVerification}) {
		t.Errorf("the rule is off, and %v", step)
	}
}

func TestReplayI4Hazard17(t *testing.T) {
	decideAll(t, []row{
		{"an idempotent receiver is sent it again", seen(recorded(unknown), replaySafe), "Begin 2", ""},
		{"when its time has come", seen(recorded(unknown, nextIn(time.Minute)), replaySafe), "Wait 1m0s", ""},
		{"a slot is needed", seen(recorded(unknown), replaySafe, flight(FlightFull)), "Wait 30s", ""},
		{"verification comes first", seen(recorded(unknown), replaySafe, verifies), "Verify", ""},
		{"and where it cannot tell, the repeat", seen(recorded(unknown, checks(1)), replaySafe, verifies), "Begin 2", ""},
		{"hazard 17: as long as the receiver remembers", seen(recorded(unknown), replaySafe, later(time.Hour-timeout-1)), "Begin 2", ""},
		{"hazard 17: until the repeat's own time-out, and not longer", seen(recorded(unknown), replaySafe, later(time.Hour-timeout)), "Store Processing/OutcomeUnknown, attempt 1 Unknown, unsettled", "remembersFor"},
		{"hazard 17: counted from the first attempt", seen(recorded(unknown, number(5), func(a *v1alpha1.Action) { a.StartedAt = ago(time.Hour) }), replaySafe), "Store Processing/OutcomeUnknown, attempt 5 Unknown, unsettled", ""},
		{"hazard 17: then it is only verified", seen(recorded(unknown, checks(1)), replaySafe, verifies, later(time.Hour)), "Verify", ""},
		{"an unknown begin is not remembered", seen(recorded(unknown, func(a *v1alpha1.Action) { a.StartedAt = nil }), replaySafe), "Store Processing/OutcomeUnknown, attempt 1 Unknown, unsettled", ""},
		{"hazard 24: not for a submission that is being deleted", seen(recorded(unknown), replaySafe, deleting), "Wait 1h0m0s", ""},
		{"not for one that is gone", seen(recorded(unknown), replaySafe, gone), "Wait 1h0m0s", ""},
		{"it is applied again, and goes on", seen(recorded(unknown), replaySafe, recreated), "Begin 2", ""},
		{"gone too long", seen(recorded(unknown), replaySafe, gone, later(2*time.Hour)), "Store Processing/OutcomeUnknown, attempt 1 Unknown, unsettled", "remembersFor"},
		{"where it is deleted, verification takes its turn again", seen(recorded(unknown, checks(1)), replaySafe, verifies, deleting), "Verify", ""},
		{"the schema does not refuse what has begun", seen(recorded(unknown), replaySafe, problem(v1alpha1.ReasonInvalidParameters)), "Begin 2", ""},
	})
	o := seen(recorded(unknown, checks(1)), replaySafe)
	if a := Decide(o).(Begin).Action; a.Checks != 2 || !a.Unsettled || !a.StartedAt.Time.Equal(t0) {
		t.Errorf("a repeat spends a check and settles nothing: %+v", a)
	}
}

func TestInProgress(t *testing.T) {
	decideAll(t, []row{
		{"it is polled", seen(recorded(accepted)), "Poll", ""},
		{"at its time", seen(recorded(accepted, nextIn(time.Second))), "Wait 1s", ""},
		{"with a slot", seen(recorded(accepted), flight(FlightFull)), "Wait 30s", ""},
		{"stuck", seen(recorded(accepted), later(5*time.Minute)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", "stuckAfter"},
		{"not stuck yet", seen(recorded(accepted), later(5*time.Minute-1)), "Poll", ""},
		{"stuck comes before the poll", seen(recorded(accepted, nextIn(time.Hour)), later(5*time.Minute)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"without its template nothing can be asked", seen(recorded(accepted), notFound, later(time.Hour)), "Wait", ""},
		{"its submission is gone, and it is polled", seen(recorded(accepted), gone), "Poll", ""},
		{"Manual polls too", seen(recorded(accepted), manual), "Poll", ""},
		{"a verification that says InProgress asks again, at its time", seen(recorded(unknown, because(v1alpha1.ReasonInProgress), nextIn(time.Second)), verifies), "Wait 1s", ""},
		{"and again", seen(recorded(unknown, because(v1alpha1.ReasonInProgress)), verifies, later(time.Hour)), "Verify", ""},
	})
}

func TestRestoredRecordHazard22(t *testing.T) {
	decideAll(t, []row{
		{"Retrying is not to be believed", seen(recorded(retrying, fromBackup)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", "restored from a backup"},
		{"nor an open attempt", seen(recorded(fromBackup)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"nor that nothing was begun", seen(recorded(cancelledEarly, func(a *v1alpha1.Action) { a.Phase = v1alpha1.PhaseProcessing }, fromBackup)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"what was asked is asked again", seen(recorded(unknown, because(v1alpha1.ReasonOutcomeUnknown), fromBackup)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"decisions come after that", seen(recorded(retrying, fromBackup), decided(v1alpha1.DecisionCancel, 1)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"I9: left alone, it does not expire in doubt", seen(recorded(retrying, expiresIn(time.Minute), fromBackup), gone), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"Success is final", seen(recorded(hasSucceeded, fromBackup)), "Wait", ""},
		{"Failed is final", seen(recorded(hasFailed, fromBackup)), "Wait", ""},
		{"a first write has no UID, and is waited out", seen(recorded(func(a *v1alpha1.Action) { a.UID = "" }, executor(somebodyElse))), "Wait 15s", ""},
		{"a first write that was claimed by nobody was never sent", seen(firstWrite(t0.Add(15*time.Second)), businessKey, claimFree, sighted(15*time.Second)), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", "never sent"},
		{"unless it came out of a backup, which need not have the claim", seen(firstWrite(t0.Add(16*time.Second)), businessKey, claimFree, sighted(15*time.Second)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", "may have been applied"},
		{"which another may have by now", seen(firstWrite(t0.Add(time.Hour)), businessKey, claimedByOther(), sighted(15*time.Second)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"also when a late report has stored its UID since", seen(firstWrite(t0.Add(16*time.Second)), func(o *Observation) { o.action().UID = theRecord }, businessKey, claimFree, sighted(15*time.Second)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"a refusal from before the backup does not settle it", seen(recorded(fromBackup), reported(refusal)), "Store Processing/Verifying, attempt 1 NotApplied, unsettled, in 1s", ""},
		{"nor a late one", seen(recorded(retrying, fromBackup, executor(somebodyElse)), reported(refusal)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"applied is applied", seen(recorded(fromBackup), reported(applied)), "Store Success/Applied, attempt 1 Applied", ""},
		{"an unacknowledged begin changes nothing", seen(recorded(retrying, fromBackup), flight(FlightUnacknowledged)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
	})
}

// firstWrite is a record as its create left it, by another process, and when it was created.
func firstWrite(created time.Time) option {
	return func(o *Observation) {
		recorded(func(a *v1alpha1.Action) { a.UID = "" }, executor(somebodyElse))(o)
		o.Record.Object.CreationTimestamp = metav1.NewTime(created)
	}
}

func TestDue(t *testing.T) {
	for _, test := range []struct {
		reason string
		action func(*v1alpha1.Action)
		due    time.Duration
		never  bool
	}{
		{"an open attempt, after its time-out and the grace", func(*v1alpha1.Action) {}, 15 * time.Second, false},
		{"a next step", func(a *v1alpha1.Action) { unknown(a); nextIn(time.Minute)(a) }, time.Minute, false},
		{"the time of an end", hasSucceeded, time.Hour, false},
		{"an end that is kept", func(a *v1alpha1.Action) { hasFailed(a); a.ExpiresAt = nil }, 0, true},
		{"left alone", func(a *v1alpha1.Action) { retrying(a); a.NextAt, a.ExpiresAt = nil, in(time.Minute) }, time.Minute, false},
		{"a person is asked", func(a *v1alpha1.Action) { unknown(a); neverAgain(a) }, 0, true},
		{"an attempt that nobody began", func(a *v1alpha1.Action) { a.Attempt.StartedAt = nil }, 0, true},
	} {
		o := seen(recorded(test.action))
		at, due := Due(o.action())
		if due == test.never || due && !at.Equal(t0.Add(test.due)) {
			t.Errorf("%s: %s, %v", test.reason, at.Sub(t0), due)
		}
	}
}
