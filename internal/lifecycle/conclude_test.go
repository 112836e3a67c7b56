package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func TestConcludeAnAttemptRule5(t *testing.T) {
	retryAfter := func(r Report, d time.Duration) Report { r.RetryAfter = d; return r }
	decideAll(t, []row{
		{"applied", seen(recorded(), reported(applied)), "Store Success/Applied, attempt 1 Applied", "the effect was applied"},
		{"refused for good", seen(recorded(), reported(refusal)), "Store Failed/Rejected, attempt 1 NotApplied", "422"},
		{"refused for now", seen(recorded(), reported(busy)), "Store Processing/Retrying, attempt 1 NotApplied, in 1s", "429"},
		{"refused for now, the second time", seen(recorded(tries(1)), reported(busy)), "Store Processing/Retrying, attempt 1 NotApplied, in 2s", ""},
		{"refused for now, the last time", seen(recorded(tries(2)), reported(busy)), "Store Failed/RetriesExhausted, attempt 1 NotApplied", "429"},
		{"Retry-After is a floor", seen(recorded(), reported(retryAfter(busy, time.Hour))), "Store Processing/Retrying, attempt 1 NotApplied, in 1h0m0s", ""},
		{"Retry-After is no ceiling", seen(recorded(tries(1)), reported(retryAfter(busy, time.Second))), "Store Processing/Retrying, attempt 1 NotApplied, in 2s", ""},
		{"Retry-After does not reopen what is exhausted", seen(recorded(tries(2)), reported(retryAfter(busy, time.Hour))), "Store Failed/RetriesExhausted, attempt 1 NotApplied", ""},
		{"no template, no policy", seen(recorded(tries(3)), notFound, reported(busy)), "Store Processing/Retrying, attempt 1 NotApplied, in 8s", ""},
		{"no template, exhausted", seen(recorded(tries(4)), notFound, reported(busy)), "Store Failed/RetriesExhausted, attempt 1 NotApplied", ""},
		{"taken on", seen(recorded(), reported(inProgress)), "Store Processing/InProgress, attempt 1 InProgress, unsettled, in 1s", "202; it is asked again, for 5m0s at most (recovery.stuckAfter)"},
		{"no answer", seen(recorded(), reported(noAnswer)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 1s", "no answer"},
		{"no answer, and the receiver can be asked at once", seen(recorded(), verifies, reported(noAnswer)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"no answer, but not asked before Retry-After", seen(recorded(), verifies, reported(retryAfter(noAnswer, time.Minute))), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 1m0s", ""},
		{"no answer to a repeat: back-off grows", seen(recorded(checks(3)), replaySafe, reported(noAnswer)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 8s", "sent again under its key, check 3 of at most 4"},
		{"no answer to a repeat in place of a check: not at once", seen(recorded(checks(1), unsettled), replaySafe, verifies, reported(noAnswer)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 2s", ""},
		{"no word of ours is Unknown", seen(recorded(), reported(Report{Outcome: "Perhaps", Message: "?"})), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 1s", ""},
		{"something is missing for long: it is looked for less often", seen(recorded(begunAt(t0.Add(-time.Minute))), reported(noSecret)), "Store Processing/DependencyMissing, attempt 1 NotApplied, in 30s", ""},
		{"credentials refused: that is not the submission's fault, and does not count", seen(recorded(tries(2)), reported(noEntry)), "Store Processing/Retrying, attempt 1 NotApplied, in 10s", "spends none of retry.maxAttempts"},
		{"credentials refused for long: less often", seen(recorded(number(6)), reported(noEntry), ofAttempt(6)), "Store Processing/Retrying, attempt 6 NotApplied, in 32s", ""},
		{"something is missing: nothing was sent, and it does not count", seen(recorded(tries(2)), reported(noSecret)), "Store Processing/DependencyMissing, attempt 1 NotApplied, in 10s", "no Secret"},
	})
	kept := Decide(seen(recorded(), reported(inProgress))).(Store).Action
	if kept.Attempt.Location != inProgress.Location || kept.Tries != 0 {
		t.Errorf("where to ask is kept: %+v", kept)
	}
	missing := Decide(seen(recorded(tries(1)), reported(noSecret))).(Store).Action
	if missing.Tries != 1 {
		t.Errorf("a missing Secret counts as a try: %+v", missing)
	}
}

func TestOneRefusalSaysNothingOfAnEarlierAttemptI4Hazard3(t *testing.T) {
	again := recorded(unsettled, number(2))
	decideAll(t, []row{
		{"refused for good", seen(again, reported(refusal), ofAttempt(2)), "Store Processing/Verifying, attempt 2 NotApplied, unsettled, in 1s", "an earlier attempt may have been applied"},
		{"refused for now, the last time", seen(recorded(unsettled, number(2), tries(2)), reported(busy), ofAttempt(2)), "Store Processing/Verifying, attempt 2 NotApplied, unsettled, in 4s", ""},
		{"hazard 3: credentials refused", seen(recorded(unsettled, number(2), tries(1)), reported(noEntry), ofAttempt(2)), "Store Processing/Verifying, attempt 2 NotApplied, unsettled, in 2s", ""},
		{"something is missing", seen(recorded(unsettled, number(2), checks(1)), reported(noSecret), ofAttempt(2)), "Store Processing/Verifying, attempt 2 NotApplied, unsettled, in 10s", "no Secret"},
		{"no answer either", seen(again, reported(noAnswer), ofAttempt(2)), "Store Processing/Verifying, attempt 2 Unknown, unsettled, in 1s", ""},
		{"applied settles all", seen(again, reported(applied), ofAttempt(2)), "Store Success/Applied, attempt 2 Applied", ""},
		{"and it stays in doubt afterwards", seen(recorded(retrying, unsettled, because(v1alpha1.ReasonVerifying))), "Store Processing/OutcomeUnknown, attempt 1 NotApplied, unsettled", "no verification"},
	})
	missing := Decide(seen(recorded(unsettled, number(2), checks(1)), reported(noSecret), ofAttempt(2))).(Store).Action
	if missing.Checks != 0 {
		t.Errorf("I9: a repeat that was not made spends a check: %d", missing.Checks)
	}
}

func TestAppliedIsAbsorbingHazard16(t *testing.T) {
	decideAll(t, []row{
		{"a late Applied of attempt 1 while attempt 2 is open", seen(recorded(number(2), executor(somebodyElse)), reported(applied)), "Store Success/Applied, attempt 2 Applied", ""},
		{"a late Applied while a person is asked", seen(recorded(unknown, because(v1alpha1.ReasonOutcomeUnknown)), reported(applied)), "Store Success/Applied, attempt 1 Applied", ""},
		{"a late Applied of another process's attempt", seen(recorded(executor(somebodyElse)), reported(applied)), "Store Success/Applied, attempt 1 Applied", ""},
		{"a check that finds it", seen(recorded(unknown), checked(Verification, applied)), "Store Success/VerifiedApplied, attempt 1 Applied", "the receiver has it"},
		{"a check of an earlier attempt that finds it", seen(recorded(unknown, number(2)), checked(Verification, applied)), "Store Success/VerifiedApplied, attempt 2 Applied", ""},
		{"a poll that finds it finished", seen(recorded(accepted), checked(Verification, applied)), "Store Success/Applied, attempt 1 Applied", ""},
		{"a late refusal counts for its own attempt only", seen(recorded(number(2)), reported(refusal)), "Store Processing/Executing, attempt 2 open", ""},
		{"a refusal of the same number in another record of the key", seen(recorded(executor(somebodyElse)), reported(refusal)), "Store Processing/Executing, attempt 1 open", ""},
		{"a check of the same number in another record of the key", seen(recorded(executor(somebodyElse)), checked(SettledVerification, refusal)), "Store Processing/Executing, attempt 1 open", ""},
		{"a check of what is settled by now", seen(recorded(retrying), checked(SettledVerification, noAnswer)), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", ""},
		{"Success is final, whatever comes", seen(recorded(hasSucceeded), reported(refusal)), "Store Success/Applied, attempt 1 Applied", ""},
		{"a check that comes late says no more", seen(recorded(hasSucceeded), checked(SettledVerification, applied)), "Abandon", ""},
		{"nor one that could not tell", seen(recorded(hasFailed), checked(SettledVerification, noAnswer)), "Abandon", ""},
		{"one that contradicts a person is kept", seen(recorded(hasFailed), checked(SettledVerification, applied)), "Store Failed/Rejected, attempt 1 NotApplied", ""},
		{"a conclude whose answer was lost is not stored twice", seen(recorded(hasSucceeded), reported(applied)), "Abandon", ""},
		{"nor one that goes on", seen(recorded(unknown), reported(noAnswer)), "Abandon", ""},
		{"the same outcome of another process is not it", seen(recorded(unknown, executor(somebodyElse)), reported(noAnswer)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"the same outcome of another attempt is not it", seen(recorded(unknown, number(2)), reported(noAnswer)), "Store Processing/Verifying, attempt 2 Unknown, unsettled, in 0s", ""},
		{"I5: Failed is left by a decision alone", seen(recorded(hasFailed), reported(applied)), "Store Failed/Rejected, attempt 1 NotApplied", ""},
	})

	first := Decide(seen(recorded(hasSucceeded, number(2)), reported(applied))).(Store).Action
	if string(first.Result.Raw) != `"first"` || first.ResultDigest != "sha256:first" || len(first.History) != 1 || first.History[0].Outcome != v1alpha1.OutcomeApplied || !strings.Contains(first.History[0].Message, "a late report") {
		t.Errorf("I6: the first stored result stays, a later one goes into the history: %+v", first)
	}
	full := Decide(seen(recorded(hasSucceeded, func(a *v1alpha1.Action) { a.History = make([]v1alpha1.Attempt, 10) }, number(2)), reported(applied))).(Store).Action
	if len(full.History) != 10 || full.History[9].Outcome != v1alpha1.OutcomeApplied {
		t.Errorf("the history keeps the last ten: %+v", full.History)
	}
	mine := Decide(seen(recorded(), reported(applied))).(Store).Action
	if string(mine.Result.Raw) != `"mine"` || mine.ResultDigest != "sha256:mine" || mine.Parameters != nil || mine.CompletedAt == nil {
		t.Errorf("the result is stored: %+v", mine)
	}
}

func TestConcludeACheckRule6(t *testing.T) {
	notThere := Report{Outcome: v1alpha1.OutcomeNotApplied, Message: "404"}
	decideAll(t, []row{
		{"hazard 4: a no before the settling time is not believed", seen(recorded(unknown), verifies, sighted(11*time.Second), checked(Verification, notThere)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 19s", "settling time"},
		{"hazard 4: nor when that has passed since it was asked", seen(recorded(unknown), verifies, sighted(time.Hour), checked(Verification, notThere)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 1ms", ""},
		{"a no after it is believed", seen(recorded(unknown), verifies, checked(SettledVerification, notThere)), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", "verified after its settling time"},
		{"and counts as a try", seen(recorded(unknown, tries(1)), verifies, checked(SettledVerification, notThere)), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", "at most 1 more times"},
		{"the last of which fails: no attempt had an effect", seen(recorded(unknown, tries(2)), verifies, checked(SettledVerification, notThere)), "Store Failed/RetriesExhausted, attempt 1 NotApplied", "the last attempt: verified after its settling time"},
		{"but not what was asked before a backup was restored", seen(recorded(unknown, tries(2), fromBackup), verifies, checked(SettledVerification, notThere)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"a check that cannot tell", seen(recorded(unknown), verifies, checked(SettledVerification, noAnswer)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 1s", "no answer"},
		{"the next waits longer", seen(recorded(unknown, checks(2)), verifies, checked(SettledVerification, noAnswer)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 4s", "no answer; check 3 of at most 4, after which a person is asked"},
		{"a verification that says InProgress waits on", seen(recorded(unknown, checks(2)), verifies, checked(SettledVerification, inProgress)), "Store Processing/InProgress, attempt 1 Unknown, unsettled, in 1s", "202"},
		{"a poll that says InProgress waits on", seen(recorded(accepted), checked(Verification, inProgress)), "Store Processing/InProgress, attempt 1 InProgress, unsettled, in 1s", ""},
		{"a poll that cannot tell asks again", seen(recorded(accepted), checked(Verification, noAnswer)), "Store Processing/InProgress, attempt 1 InProgress, unsettled, in 1s", ""},
		{"a poll waits a tenth of what it has taken so far", seen(recorded(accepted), later(2*time.Minute), checked(Verification, inProgress)), "Store Processing/InProgress, attempt 1 InProgress, unsettled, in 12s", ""},
		{"and at most a minute", seen(recorded(accepted), later(time.Hour), checked(Verification, inProgress)), "Store Processing/InProgress, attempt 1 InProgress, unsettled, in 1m0s", ""},
		{"but not less than Retry-After", seen(recorded(accepted), checked(Verification, Report{Outcome: v1alpha1.OutcomeInProgress, Message: "202", RetryAfter: time.Hour})), "Store Processing/InProgress, attempt 1 InProgress, unsettled, in 1h0m0s", ""},
		{"a poll's no settles nothing", seen(recorded(accepted), checked(SettledVerification, notThere)), "Store Processing/InProgress, attempt 1 InProgress, unsettled, in 1s", ""},
	})
	for reason, test := range map[string]struct {
		given  Observation
		checks int32
	}{
		"cannot tell spends one":    {seen(recorded(unknown, checks(2)), verifies, checked(SettledVerification, noAnswer)), 3},
		"InProgress spends none":    {seen(recorded(unknown, checks(2)), verifies, checked(SettledVerification, inProgress)), 2},
		"too early spends none":     {seen(recorded(unknown, checks(2)), verifies, checked(Verification, notThere)), 2},
		"a believed no starts anew": {seen(recorded(unknown, checks(2)), verifies, checked(SettledVerification, notThere)), 0},
	} {
		if a := Decide(test.given).(Store).Action; a.Checks != test.checks {
			t.Errorf("%s: %d", reason, a.Checks)
		}
	}
}

func TestBackoff(t *testing.T) {
	for _, test := range []struct {
		reason                  string
		n                       int32
		initial, longest, floor time.Duration
		jitter                  float64
		want                    time.Duration
	}{
		{"the first", 1, time.Second, time.Minute, 0, 0, time.Second},
		{"it doubles", 4, time.Second, time.Minute, 0, 0, 8 * time.Second},
		{"to a bound", 7, time.Second, time.Minute, 0, 0, time.Minute},
		{"without overflow", 1 << 30, time.Second, 24 * time.Hour, 0, 0, 24 * time.Hour},
		{"jitter takes off up to a quarter", 1, time.Second, time.Minute, 0, 0.5, 875 * time.Millisecond},
		{"the bound holds before the jitter", 9, time.Second, time.Minute, 0, 0.999, time.Minute - 14985*time.Millisecond},
		{"a floor is a floor, past the bound and the jitter", 1, time.Second, time.Minute, time.Hour, 0.9, time.Hour},
		{"zero tries", 0, time.Second, time.Minute, 0, 0, time.Second},
	} {
		if got := backoff(test.n, test.initial, test.longest, test.floor, test.jitter); got != test.want {
			t.Errorf("%s: %s, want %s", test.reason, got, test.want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, test := range []struct{ reason, message, want string }{
		{"short", "1234567", "1234567"},
		{"long", "12345678", "1234…"},
		{"at the end of a letter", "123务6789", "123…"},
		{"whole letters stay", "1务6789", "1务…"},
		{"what is no text has an end too", strings.Repeat("\x80", 20), "…"},
	} {
		if got := cut(test.message, 7); got != test.want {
			t.Errorf("%s: %q, want %q", test.reason, got, test.want)
		}
	}
}
