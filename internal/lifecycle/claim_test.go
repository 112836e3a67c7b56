package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func paramsDiffer(a *v1alpha1.Action) { a.PayloadDigest = "sha256:other payload" }

func TestClaimComesAfterTheRecordAndBeforeTheEffectI7Rule4(t *testing.T) {
	granted := func(options ...option) Observation {
		return seen(append([]option{recorded(), businessKey, flight(FlightGranted)}, options...)...)
	}
	secondTime := func(options ...option) Observation {
		return seen(append([]option{recorded(number(2), tries(1)), businessKey, flight(FlightGranted), ofAttempt(2)}, options...)...)
	}
	retried := func(options ...option) Observation {
		return seen(append([]option{recorded(number(2), retries(1)), businessKey, flight(FlightGranted), ofAttempt(2)}, options...)...)
	}
	inDoubt := func(options ...option) Observation {
		return seen(append([]option{recorded(number(2), unsettled), businessKey, flight(FlightGranted), ofAttempt(2)}, options...)...)
	}
	held := "Store Processing/BusinessKeyHeld, attempt 1 NotApplied, in 30s"
	decideAll(t, []row{
		{"the straight path creates it, and reads nothing", granted(), "CreateClaim", ""},
		{"nobody holds it", granted(claimFree), "CreateClaim", ""},
		{"it is this record's", granted(claimedByMe), "Launch", ""},
		{"a later attempt reads it", secondTime(), "ReadClaim", ""},
		{"a later attempt finds its own", secondTime(claimedByMe), "Launch", ""},
		{"hazard 2: after a Retry it is written again", retried(claimedByMe), "TakeClaim", ""},
		{"hazard 2: once", retried(claimedBy(v1alpha1.RecordName("k"), theRecord, 1)), "Launch", ""},
		{"the claim of an earlier life of this record is written again", granted(claimedBy(v1alpha1.RecordName("k"), "an earlier uid", 0)), "TakeClaim", ""},
		{"its holder failed", granted(claimedByOther(hasFailed)), "TakeClaim", ""},
		{"its holder is being carried out", granted(claimedByOther()), held, "gets its result, or its turn"},
		{"its holder's outcome is unknown", granted(claimedByOther(unknown)), held, ""},
		{"hazard 1: its holder is gone, and absence is no ground", granted(holderGone), held, "delete the claim " + v1alpha1.ClaimName("tpl", "b")},
		{"its holder has applied it", granted(claimedByOther(hasSucceeded)), "Store Success/AlreadyApplied, attempt 1 NotApplied", `the submission "first" has applied`},
		{"hazard 25: with other parameters", granted(claimedByOther(hasSucceeded, paramsDiffer)), "Store Success/AlreadyApplied, attempt 1 NotApplied", "although the parameters differ"},
		{"its holder has applied it, and a conflict fails", granted(failsConflicts, claimedByOther(hasSucceeded)), "Store Failed/BusinessKeyConflict, attempt 1 NotApplied", `"first"`},
		{"without its template the first result is returned", granted(notFound, claimedByOther(hasSucceeded)), "Store Success/AlreadyApplied, attempt 1 NotApplied", ""},
		{"hazard 3: the holder's success is not that of an attempt in doubt", inDoubt(claimedByOther(hasSucceeded)), "Store Processing/OutcomeUnknown, attempt 2 NotApplied, unsettled", "another submission holds its business key now"},
		{"in doubt, and the holder is being carried out", inDoubt(claimedByOther()), "Store Processing/OutcomeUnknown, attempt 2 NotApplied, unsettled", ""},
		{"in doubt, and the holder failed", inDoubt(claimedByOther(hasFailed)), "TakeClaim", ""},
		{"in doubt, and its own claim", inDoubt(claimedByMe), "Launch", ""},
	})
	again := Decide(granted(claimedByOther(hasSucceeded))).(Store).Action
	if again.DuplicateOf != "first" || string(again.Result.Raw) != `"first"` || again.ResultDigest != "sha256:first" || again.Tries != 0 {
		t.Errorf("I6: the first result is returned: %+v", again)
	}
	if same := Decide(granted(claimedByOther(hasSucceeded))).(Store).Action.Message; strings.Contains(same, "differ") {
		t.Errorf("the parameters are the same: %q", same)
	}
	if whose := Decide(granted(claimedByOther(hasSucceeded, forStudent))).(Store).Action; whose.OutcomeOnBehalfOf != "stu-7" || whose.OnBehalfOf != "" {
		t.Errorf("whose outcome it is: %+v", whose)
	}
	yielded := Decide(granted(claimedByOther())).(Store).Action
	if yielded.Tries != 0 || yielded.Unsettled || !strings.Contains(yielded.Attempt.Message, "never sent") {
		t.Errorf("what was held was never sent, and does not count: %+v", yielded)
	}
}

func TestBusinessKeyHeld(t *testing.T) {
	waiting := func(options ...option) Observation {
		return seen(append([]option{recorded(isHeld), businessKey}, options...)...)
	}
	decideAll(t, []row{
		{"it is looked at again", waiting(), "ReadClaim", ""},
		{"still held", waiting(claimedByOther()), "Wait 30s", ""},
		{"held by somebody who is gone", waiting(holderGone), "Wait 30s", ""},
		{"its turn: the holder failed", waiting(claimedByOther(hasFailed)), "Begin 2", ""},
		{"its turn: the claim is gone", waiting(claimFree), "Begin 2", ""},
		{"its own claim", waiting(claimedByMe), "Begin 2", ""},
		{"its turn, and a slot is needed", waiting(claimFree, flight(FlightFull)), "Wait 30s", ""},
		{"the holder's result", waiting(claimedByOther(hasSucceeded)), "Store Success/AlreadyApplied, attempt 1 NotApplied", ""},
		{"the holder's result, and a conflict fails", waiting(failsConflicts, claimedByOther(hasSucceeded)), "Store Failed/BusinessKeyConflict, attempt 1 NotApplied", ""},
		{"the holder's result without this template waits for it", waiting(notFound, claimedByOther(hasSucceeded)), "Wait", ""},
		{"too late by now", waiting(notAfter(ago(0)), claimedByOther()), "Store Failed/TooLate, attempt 1 NotApplied", ""},
		{"what waits for its template is looked at when it is too late", waiting(notFound, notAfter(in(time.Minute))), "Wait 1m0s", ""},
		{"what was sent before is not too late", seen(recorded(isHeld, tries(1)), businessKey, notAfter(ago(0)), claimedByOther()), "Wait 30s", ""},
		{"hazard 24: being deleted", waiting(deleting, claimFree), "Wait", ""},
	})
}

func TestVerdictsClaimNothing(t *testing.T) {
	a := Decide(seen(readNothing, businessKey, decided(v1alpha1.DecisionCancel, 0))).(Store).Action
	if a.Claim != "" || a.Decision == nil || a.Decision.Action != v1alpha1.DecisionCancel || a.Decision.By != "bob" {
		t.Errorf("a verdict: %+v", a)
	}
}

func TestBeginNamesItsClaimWhenTheKeyIsKnownI7(t *testing.T) {
	o := seen(businessKey, recorded(retrying)) // stored while the template could not be read
	if o.action().Claim != "" {
		t.Fatal("the builder has made a claim")
	}
	if a := Decide(o).(Begin).Action; a.BusinessKey != "b" || a.Claim != v1alpha1.ClaimName("tpl", "b") {
		t.Errorf("begun without its claim: %+v", a)
	}
}
