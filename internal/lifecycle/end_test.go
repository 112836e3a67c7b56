package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func TestKeyReusedOnEveryPathI6(t *testing.T) {
	for reason, action := range map[string]func(*v1alpha1.Action){
		"open":      func(*v1alpha1.Action) {},
		"between":   retrying,
		"unsettled": unknown,
		"held":      isHeld,
		"Success":   hasSucceeded,
		"Failed":    hasFailed,
		"Cancelled": cancelledEarly,
	} {
		for _, also := range []option{readNothingMore, recreated, notFound, approved, deleting, problem(v1alpha1.ReasonKeyMismatch)} {
			o := seen(recorded(action), otherPayload, also)
			s := Project(o)
			if s.Phase != v1alpha1.PhaseFailed || s.Reason != v1alpha1.ReasonKeyReused || s.Result != nil || s.Attempts != 0 || s.Replayed || s.RecordName != v1alpha1.RecordName("k") {
				t.Errorf("%s: %+v", reason, s)
			}
			checkStatus(t, o, s)
			checkStable(t, o, s, time.Hour)
		}
	}
	decideAll(t, []row{
		{"its action goes on without it: an orphan", seen(recorded(executor(somebodyElse)), otherPayload), "Wait 15s", ""},
		{"its action goes on: a check", seen(recorded(unknown), verifies, otherPayload), "Verify", ""},
		{"nothing begins for it", seen(recorded(retrying), otherPayload), "Store Processing/Retrying, attempt 1 NotApplied", "its submission is gone"},
		{"nor is anything repeated", seen(recorded(unknown), replaySafe, otherPayload), "Wait 1h0m0s", ""},
		{"a report is stored", seen(recorded(), otherPayload, reported(applied)), "Store Success/Applied, attempt 1 Applied", ""},
		{"the record stays while the key is in use", seen(recorded(hasSucceeded, expiresIn(-time.Hour)), otherPayload), "Wait", ""},
	})
}

func TestRecordOfAnotherKeyIsNotAnswered(t *testing.T) {
	o := seen(recorded(hasSucceeded), named("k", "a:b"), func(o *Observation) { o.Key = "a:b" })
	if s := Project(o); s.Reason != v1alpha1.ReasonInvalidName || s.Result != nil {
		t.Errorf("somebody else's result: %+v", s)
	}
	decideAll(t, []row{
		{"nothing begins for it", seen(recorded(retrying), named("k", "a:b"), func(o *Observation) { o.Key = "a:b" }), "Store Processing/Retrying, attempt 1 NotApplied", "its submission is gone"},
		{"what runs is stored", seen(recorded(), named("k", "a:b"), func(o *Observation) { o.Key = "a:b" }, reported(applied)), "Store Success/Applied, attempt 1 Applied", ""},
	})
}

func readNothingMore(*Observation) {}

func TestReplayedI8(t *testing.T) {
	o := seen(recorded(hasSucceeded), recreated)
	s := Project(o)
	if s.Phase != v1alpha1.PhaseSuccess || !s.Replayed || string(s.Result.Raw) != `"first"` || s.ResultDigest != "sha256:first" || !s.CompletedAt.Equal(ago(0)) || !s.ExpiresAt.Equal(in(time.Hour)) || s.Attempts != 1 {
		t.Errorf("replayed: %+v", s)
	}
	if Project(seen(recorded(hasSucceeded))).Replayed {
		t.Error("the first submission is not a replay")
	}
}

func TestExpiryRule10Hazard11(t *testing.T) {
	past, ending := expiresIn(-time.Second), expiresIn(0)
	decideAll(t, []row{
		{"over, and the submission is gone", seen(recorded(hasSucceeded, past), gone), "Expire", ""},
		{"just over", seen(recorded(hasFailed, ending), gone), "Expire", ""},
		{"not over", seen(recorded(hasSucceeded), gone), "Wait 1h0m0s", ""},
		{"kept for ever", seen(recorded(hasSucceeded, keptForEver), gone), "Wait", ""},
		{"over, and its submission lives", seen(recorded(hasSucceeded, past)), "Store Success/Applied, attempt 1 Applied", ""},
		{"not over, and its submission lives", seen(recorded(hasSucceeded, expiresIn(time.Second))), "Wait", ""},
		{"a replay renews it when less than half is left", seen(recorded(hasSucceeded, expiresIn(30*time.Minute-1)), recreated), "Store Success/Applied, attempt 1 Applied", ""},
		{"and not before", seen(recorded(hasSucceeded, expiresIn(30*time.Minute)), recreated), "Wait", ""},
		{"for ever is not renewed", seen(recorded(hasSucceeded, keptForEver), recreated, dueIn(time.Hour)), "Wait", ""},
		{"without its template the default counts", seen(recorded(hasSucceeded, expiresIn(361*time.Hour)), dueIn(time.Hour), recreated, notFound), "Wait", ""},
		{"a check is still out", seen(recorded(hasSucceeded), flight(FlightRunning)), "Wait", ""},
	})
	for reason, test := range map[string]struct {
		given Observation
		want  time.Duration
	}{
		"renewed":              {seen(recorded(hasSucceeded, past)), time.Hour},
		"an end":               {seen(recorded(), reported(applied)), time.Hour},
		"without its template": {seen(recorded(), reported(applied), notFound), defaultRecordTTL},
		"rounded up":           {seen(recorded(), reported(applied), later(time.Millisecond)), time.Hour + time.Second},
	} {
		if a := Decide(test.given).(Store).Action; !a.ExpiresAt.Time.Equal(t0.Add(test.want)) {
			t.Errorf("%s: %s", reason, a.ExpiresAt.Sub(t0))
		}
	}
	if a := Decide(seen(recorded(), reported(applied), keeps)).(Store).Action; a.ExpiresAt != nil {
		t.Errorf("Keep: %s", a.ExpiresAt)
	}
	if a := Decide(seen(recorded(hasSucceeded, past), recreated, keeps)).(Store).Action; a.ExpiresAt != nil {
		t.Errorf("renewed under Keep: %s", a.ExpiresAt)
	}
	shortest := seen(recorded(hasSucceeded, past), recreated, later(900*time.Millisecond), policy(func(s *v1alpha1.TaskTemplateSpec) { s.Retention.RecordTTL = every(time.Second) }))
	shortest.Record.Object.Spec.Action = new(Decide(shortest).(Store).Action)
	if step := words(&shortest, Decide(shortest)); step != "Wait" {
		t.Errorf("the shortest life is renewed without end: %s", step)
	}
}

func TestLeftAloneRule9(t *testing.T) {
	decideAll(t, []row{
		{"it gets a time to end", seen(recorded(retrying), gone), "Store Processing/Retrying, attempt 1 NotApplied", "its submission is gone"},
		{"which is waited for", seen(recorded(retrying, expiresIn(time.Hour)), gone), "Wait 1h0m0s", ""},
		{"and comes", seen(recorded(retrying, expiresIn(0)), gone), "Expire", ""},
		{"what is kept for ever is not looked at for ever", seen(recorded(retrying), gone, keeps), "Store Processing/Retrying, attempt 1 NotApplied", "its submission is gone"},
		{"and is kept", seen(recorded(retrying, neverAgain), gone, keeps), "Wait", ""},
		{"applied again it goes on, and says so before anything else", seen(recorded(retrying, expiresIn(time.Hour)), recreated), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", ""},
		{"so does what waits for its business key", seen(recorded(isHeld, expiresIn(time.Hour)), businessKey, recreated), "Store Processing/BusinessKeyHeld, attempt 1 NotApplied, in 0s", ""},
		{"and what was kept for ever", seen(recorded(retrying, neverAgain), keeps, recreated), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", ""},
		{"not while it is being deleted", seen(recorded(retrying, expiresIn(time.Hour)), recreated, deleting), "Wait", ""},
		{"I9: what is unsettled is not left alone", seen(recorded(unknown), gone, verifies), "Verify", ""},
		{"nor what is open", seen(recorded(executor(somebodyElse)), gone), "Wait 15s", ""},
		{"nor what is asked, although only a person can answer", seen(recorded(unknown, because(v1alpha1.ReasonOutcomeUnknown)), gone), "Wait", ""},
	})
	if a := Decide(seen(recorded(retrying), gone)).(Store).Action; a.NextAt != nil || !a.ExpiresAt.Equal(in(time.Hour)) {
		t.Errorf("left alone: %+v", a)
	}
	if a := Decide(seen(recorded(retrying, expiresIn(time.Hour)), recreated)).(Store).Action; a.ExpiresAt != nil {
		t.Errorf("what goes on does not expire: %+v", a)
	}
}

func TestBetweenAttempts(t *testing.T) {
	decideAll(t, []row{
		{"its time has come", seen(recorded(retrying)), "Begin 2", ""},
		{"its time has not come, also after a restart", seen(recorded(retrying, nextIn(time.Hour), executor(somebodyElse))), "Wait 1h0m0s", ""},
		{"a slot is needed", seen(recorded(retrying), flight(FlightFull)), "Wait 30s", ""},
		{"the template must be there", seen(recorded(retrying), notFound), "Wait", ""},
		{"the template refuses the parameters now", seen(recorded(retrying), problem(v1alpha1.ReasonInvalidParameters)), "Wait", ""},
		{"suspension does not stop it", seen(recorded(retrying), suspended), "Begin 2", ""},
		{"hazard 24: being deleted", seen(recorded(retrying), deleting), "Wait", ""},
		{"what has been sent is not too late", seen(recorded(retrying), notAfter(ago(0))), "Begin 2", ""},
		{"a Secret is looked for again", seen(recorded(retrying, tries(0), because(v1alpha1.ReasonDependencyMissing))), "Begin 2", ""},
		{"a Secret is looked for at its time", seen(recorded(retrying, tries(0), because(v1alpha1.ReasonDependencyMissing), nextIn(time.Second))), "Wait 1s", ""},
		{"a Secret came too late", seen(recorded(retrying, tries(0), because(v1alpha1.ReasonDependencyMissing)), notAfter(ago(0))), "Store Failed/TooLate, attempt 1 NotApplied", ""},
	})
}

// TestAppliedAgainTakesBackThatItIsGone: neither its own status nor who waits for its business key speaks of a deletion.
func TestAppliedAgainTakesBackThatItIsGone(t *testing.T) {
	waiting := seen(recorded(isHeld), businessKey, claimedByOther(func(a *v1alpha1.Action) { a.Phase = v1alpha1.PhaseProcessing }))
	said := waiting.action().Message
	left := Decide(seen(recorded(isHeld), businessKey, gone)).(Store).Action
	again := Decide(seen(holding(left), businessKey, recreated)).(Store).Action
	if status := Project(seen(holding(again), businessKey, recreated)); status.Message != said {
		t.Errorf("its status says %q, and before it was deleted %q", status.Message, said)
	}
	for _, holder := range []struct {
		reason string
		action v1alpha1.Action
		gone   bool
	}{{"left alone", left, true}, {"applied again", again, false}} {
		o := seen(recorded(isHeld), businessKey, claimedByOther(func(a *v1alpha1.Action) { *a = holder.action }))
		if got := strings.Contains(Project(o).Message, "was deleted"); got != holder.gone {
			t.Errorf("%s: who waits for its key is told %q", holder.reason, Project(o).Message)
		}
	}
}
