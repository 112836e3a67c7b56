package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func unapproved(a *v1alpha1.Action) { a.Unapproved = true }
func approvedUnder(d string) func(*v1alpha1.Action) {
	return func(a *v1alpha1.Action) { a.ApprovedDigest = d }
}

// forStudent says on whose behalf the action was submitted.
func forStudent(a *v1alpha1.Action) { a.OnBehalfOf = "stu-7" }

// did says that a decision of that number was carried out already.
func did(uid string) func(*v1alpha1.Action) {
	return func(a *v1alpha1.Action) {
		a.Decision = &v1alpha1.DecisionRef{Name: "x", UID: "d0-uid"}
		a.Decision.Name = uid
	}
}

func TestApprovalBeforeTheBeginHazard12(t *testing.T) {
	approve := func(changes ...func(*v1alpha1.TaskDecision)) option {
		return decided(v1alpha1.DecisionApprove, 0, changes...)
	}
	nobody := submission(func(s *v1alpha1.TaskSubmission) { s.Annotations = map[string]string{} })
	onBehalf := submission(func(s *v1alpha1.TaskSubmission) { s.Annotations[v1alpha1.AnnotationOnBehalfOf] = "stu-7" })
	decideAll(t, []row{
		{"approved", seen(readNothing, approved, approve()), "Begin 1", ""},
		{"not approved", seen(readNothing, approved), "Wait", ""},
		{"the digest is pinned", seen(readNothing, approved, approve(pinning(edited))), "Judge Superseded", "approve again with templateDigest " + digest},
		{"the template was edited since", seen(readNothing, approved, wasEdited, approve()), "Judge Superseded", edited},
		{"it does not say what it approves", seen(readNothing, approved, approve(pinning(""))), "Judge Refused", "set templateDigest to " + digest},
		{"one's own cannot be approved", seen(readNothing, approved, approve(by("ann"))), "Judge Refused", "who submitted it cannot approve it"},
		{"unless the template allows it", seen(readNothing, approvedByAnyone, approve(by("ann"))), "Begin 1", ""},
		{"an approver whom nobody knows", seen(readNothing, approved, approve(by(""))), "Wait", ""},
		{"a submitter whom nobody knows", seen(readNothing, approved, nobody, approve()), "Wait", ""},
		{"a submitter who did it for somebody else", seen(readNothing, approved, onBehalf, approve()), "Begin 1", ""},
		{"by the one on whose behalf it was", seen(readNothing, approved, onBehalf, approve(by("stu-7"))), "Judge Refused", "the one on whose behalf it was submitted"},
		{"on whose behalf is known, and the submitter is not", seen(readNothing, approved, nobody, onBehalf, approve()), "Wait", ""},
		{"by the account that did it for somebody else", seen(readNothing, approved, onBehalf, approve(by("ann"))), "Judge Refused", "who submitted it cannot approve it"},
		{"for whom does not matter where anyone may", seen(readNothing, approvedByAnyone, onBehalf, approve()), "Begin 1", ""},
		{"neither matters where anyone may", seen(readNothing, approvedByAnyone, nobody, approve(by(""))), "Begin 1", ""},
		{"no approval is asked for", seen(readNothing, approve()), "Judge Refused", "asks for no approval"},
		{"another submission's", seen(readNothing, approved, approve(naming("other"))), "Judge Refused", "uid"},
		{"for an attempt that there is not", seen(readNothing, approved, decided(v1alpha1.DecisionApprove, 1)), "Judge Refused", "attempt 0"},
		{"the template cannot be read: it waits", seen(readNothing, notFound, approve()), "Wait", ""},
		{"what fails anyway needs no approval", seen(readNothing, approved, problem(v1alpha1.ReasonKeyMismatch), approve()), "Judge Refused", "has finished"},
		{"after the begin it is done", seen(recorded(func(a *v1alpha1.Action) { a.Approval = &v1alpha1.DecisionRef{UID: "d0-uid"} }), approved, approve()), "Judge Applied", "done"},
		{"a second one comes too late", seen(recorded(), approved, approve()), "Judge Superseded", "judges attempt 0"},
	})
}

func TestApprovalOfAnEditedTemplateHazard12(t *testing.T) {
	again := func(changes ...func(*v1alpha1.TaskDecision)) option {
		return decided(v1alpha1.DecisionApprove, 1, append([]func(*v1alpha1.TaskDecision){pinning(edited)}, changes...)...)
	}
	between := recorded(retrying, approvedUnder(digest))
	decideAll(t, []row{
		{"as it was approved it goes on", seen(between, approved), "Begin 2", ""},
		{"edited, it asks again", seen(between, approved, wasEdited), "Wait", ""},
		{"edited, and no approval asked for", seen(between, wasEdited), "Begin 2", ""},
		{"approval required later does not stop what has begun", seen(recorded(retrying), approved), "Begin 2", ""},
		{"approved again, which is stored", seen(between, approved, wasEdited, again()), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", ""},
		{"and then it goes on", seen(recorded(retrying, approvedUnder(edited)), approved, wasEdited), "Begin 2", ""},
		{"the old digest", seen(between, approved, wasEdited, again(pinning(digest))), "Judge Superseded", ""},
		{"by the submitter", seen(between, approved, wasEdited, again(by("ann"))), "Judge Refused", ""},
		{"by the first submitter, after it was applied again by another", seen(between, approved, wasEdited, recreated, submission(func(s *v1alpha1.TaskSubmission) { s.Annotations[v1alpha1.AnnotationSubmittedBy] = "bob" }), again(by("ann"), naming(theRecord))), "Judge Refused", "who submitted it"},
		{"by the one on whose behalf it was first, after it was applied again by another", seen(recorded(retrying, approvedUnder(digest), forStudent), approved, wasEdited, recreated, again(by("stu-7"), naming(theRecord))), "Judge Refused", "on whose behalf"},
		{"an attempt that runs is not approved", seen(recorded(approvedUnder(digest)), approved, wasEdited, again(), flight(FlightRunning)), "Wait 500ms quiet", ""},
		{"the template cannot be read: it waits", seen(between, notFound, again()), "Wait", ""},
		{"it has finished", seen(recorded(hasFailed), approved, again()), "Judge Refused", "finished"},
		{"its submission is gone, so it waits", seen(recorded(retrying, expiresIn(time.Hour)), gone, approved, wasEdited, again(naming(theRecord))), "Wait 1h0m0s", ""},
	})
}

func TestCancelRule8(t *testing.T) {
	cancel := func(n int32, changes ...func(*v1alpha1.TaskDecision)) option {
		return decided(v1alpha1.DecisionCancel, n, changes...)
	}
	decideAll(t, []row{
		{"pending", seen(readNothing, approved, cancel(0)), "Store Failed/Cancelled, attempt 0", "before it began: because"},
		{"pending, for an attempt that there is not", seen(readNothing, cancel(1)), "Judge Refused", "attempt 0"},
		{"pending, of another submission", seen(readNothing, cancel(0, naming("other"))), "Judge Refused", "uid"},
		{"pending, twice", seen(readNothing, cancel(0), cancel(0)), "Store Failed/Cancelled, attempt 0", ""},
		{"too late anyway", seen(readNothing, notAfter(ago(0)), cancel(0)), "Store Failed/TooLate, attempt 0", ""},
		{"wrong anyway", seen(readNothing, problem(v1alpha1.ReasonInvalidParameters), cancel(0)), "Judge Refused", "has finished"},
		{"I9: a decision about a wrong name is answered", seen(named("wrong", "a:b"), cancel(0)), "Judge Refused", "has finished"},
		{"between attempts", seen(recorded(retrying), cancel(1)), "Store Failed/Cancelled, attempt 1 NotApplied", "cancelled: because"},
		{"between attempts, naming the record", seen(recorded(retrying), cancel(1, naming(theRecord))), "Store Failed/Cancelled, attempt 1 NotApplied", ""},
		{"between attempts, its submission gone", seen(recorded(retrying), gone, cancel(1, naming(theRecord))), "Store Failed/Cancelled, attempt 1 NotApplied", ""},
		{"held", seen(recorded(isHeld), businessKey, cancel(1)), "Store Failed/Cancelled, attempt 1 NotApplied", ""},
		{"waiting for a Secret", seen(recorded(retrying, because(v1alpha1.ReasonDependencyMissing)), cancel(1)), "Store Failed/Cancelled, attempt 1 NotApplied", ""},
		{"in flight", seen(recorded(), flight(FlightRunning), cancel(1)), "Judge Refused", "may have been applied"},
		{"begun, not launched", seen(recorded(), flight(FlightGranted), cancel(1)), "Judge Refused", ""},
		{"an orphan", seen(recorded(executor(somebodyElse)), cancel(1)), "Judge Refused", ""},
		{"I5: unsettled", seen(recorded(unknown), cancel(1)), "Judge Refused", "settle it"},
		{"I5: an earlier attempt unsettled", seen(recorded(retrying, unsettled), cancel(1)), "Judge Refused", ""},
		{"in progress", seen(recorded(accepted), cancel(1)), "Judge Refused", ""},
		{"succeeded", seen(recorded(hasSucceeded), cancel(1)), "Judge Refused", "finished"},
		{"failed", seen(recorded(hasFailed), cancel(1)), "Judge Refused", "finished"},
		{"failed after a Retry", seen(recorded(hasFailed, endedBy(v1alpha1.DecisionRetry)), cancel(1)), "Judge Refused", "finished"},
		{"of two at once", seen(recorded(hasFailed, endedBy(v1alpha1.DecisionCancel)), cancel(1)), "Judge Superseded", `"first" (Cancel) came first`},
		{"of an earlier attempt", seen(recorded(retrying, number(2)), cancel(1)), "Judge Superseded", "the current one is 2"},
		{"done before a crash", seen(recorded(cancelledEarly, did("x")), cancel(0)), "Judge Applied", "done"},
		{"I6: another action's", seen(recorded(retrying), otherPayload, cancel(1)), "Judge Refused", "uid"},
	})
}

// endedBy has the decision "first" carried out.
func endedBy(kind v1alpha1.DecisionAction) func(*v1alpha1.Action) {
	return func(a *v1alpha1.Action) {
		a.Decision = &v1alpha1.DecisionRef{Name: "first", UID: "first-uid", Action: kind}
	}
}

func TestCancelledBeforeItsApprovalIsFinalHazard21(t *testing.T) {
	for _, test := range []struct {
		reason     string
		given      Observation
		unapproved bool
	}{
		{"not approved", seen(readNothing, approved, decided(v1alpha1.DecisionCancel, 0)), true},
		{"approved", seen(readNothing, approved, decided(v1alpha1.DecisionApprove, 0), decided(v1alpha1.DecisionCancel, 0)), false},
		{"approved by the wrong person", seen(readNothing, approved, decided(v1alpha1.DecisionApprove, 0, by("ann")), decided(v1alpha1.DecisionCancel, 0)), true},
		{"no approval asked for", seen(readNothing, decided(v1alpha1.DecisionCancel, 0)), false},
		{"nobody can tell", seen(readNothing, notFound, decided(v1alpha1.DecisionCancel, 0)), true},
	} {
		if a := Decide(test.given).(Store).Action; a.Unapproved != test.unapproved {
			t.Errorf("%s: unapproved %v", test.reason, a.Unapproved)
		}
	}
	decideAll(t, []row{
		{"no Retry starts it", seen(recorded(cancelledEarly, unapproved), decided(v1alpha1.DecisionRetry, 0)), "Judge Refused", "is final"},
		{"what was approved can be retried", seen(recorded(cancelledEarly), decided(v1alpha1.DecisionRetry, 0)), "Store Processing/Retrying, attempt 0, in 0s", ""},
		{"and asks for its approval again", seen(recorded(retrying, number(0), func(a *v1alpha1.Action) { a.EffectDigest = "" }), approved), "Wait", ""},
	})
}

func TestRetryI5(t *testing.T) {
	retry := func(n int32, changes ...func(*v1alpha1.TaskDecision)) option {
		return decided(v1alpha1.DecisionRetry, n, changes...)
	}
	decideAll(t, []row{
		{"failed", seen(recorded(hasFailed), retry(1)), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", "because"},
		{"failed, naming the record", seen(recorded(hasFailed), retry(1, naming(theRecord))), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", ""},
		{"failed, the submission applied again", seen(recorded(hasFailed), recreated, retry(1, naming(theRecord))), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", ""},
		{"failed, the submission gone", seen(recorded(hasFailed), gone, retry(1, naming(theRecord))), "Judge Refused", "apply it again first"},
		{"failed, the submission going", seen(recorded(hasFailed), deleting, retry(1)), "Judge Refused", ""},
		{"failed, and too late", seen(recorded(hasFailed), notAfter(ago(0)), retry(1)), "Judge Refused", "notAfter"},
		{"failed, of an earlier attempt", seen(recorded(hasFailed, number(2)), retry(1)), "Judge Superseded", ""},
		{"hazard 16: failed, and applied as a late report says", seen(recorded(hasFailed, appliedLater), retry(1)), "Judge Refused", "attempt 1 was reported as applied"},
		{"succeeded", seen(recorded(hasSucceeded), retry(1)), "Judge Refused", "only a failed"},
		{"between attempts", seen(recorded(retrying), retry(1)), "Judge Refused", "only a failed"},
		{"unknown", seen(recorded(unknown), retry(1)), "Judge Refused", "only a failed"},
		{"without a record", seen(readNothing, retry(0)), "Judge Refused", "Approve or Cancel"},
		{"ended without a record", seen(readNothing, status(func(s *v1alpha1.TaskSubmissionStatus) { s.Phase = v1alpha1.PhaseFailed }), retry(0)), "Judge Refused", "no record that could be reopened"},
		{"done before a crash", seen(recorded(retrying, did("x")), retry(1)), "Judge Applied", ""},
	})
	a := Decide(seen(recorded(hasFailed, tries(3), checks(2), retries(1)), retry(1))).(Store).Action
	if a.Tries != 0 || a.Checks != 0 || a.Retries != 2 || a.CompletedAt != nil || a.ExpiresAt != nil || a.Decision.UID != "d0-uid" || a.Decision.Reason != "because" {
		t.Errorf("a Retry starts anew: %+v", a)
	}
	reopened := recorded(retrying, number(0), func(a *v1alpha1.Action) { a.EffectDigest = "" })
	decideAll(t, []row{
		{"what had never begun keeps its time", seen(reopened, notBefore(in(time.Minute))), "Wait 1m0s", ""},
		{"what had never begun keeps to suspension", seen(reopened, suspended), "Wait", ""},
		{"what had begun does not", seen(recorded(retrying), suspended, notBefore(in(time.Minute))), "Begin 2", ""},
		{"and begins", seen(reopened), "Begin 1", ""},
	})
}

// appliedLater has the history that a late report leaves.
func appliedLater(a *v1alpha1.Action) {
	o := seen(recorded(hasFailed), reported(applied))
	a.History = late(&o, o.action()).History
}

func TestConfirm(t *testing.T) {
	was := func(n int32, changes ...func(*v1alpha1.TaskDecision)) option {
		return decided(v1alpha1.DecisionConfirmApplied, n, changes...)
	}
	wasNot := func(n int32, changes ...func(*v1alpha1.TaskDecision)) option {
		return decided(v1alpha1.DecisionConfirmNotApplied, n, changes...)
	}
	asked := recorded(unknown, because(v1alpha1.ReasonOutcomeUnknown))
	decideAll(t, []row{
		{"it was applied", seen(asked, was(1)), "Store Success/ConfirmedApplied, attempt 1 Applied", "because"},
		{"it was not", seen(asked, wasNot(1)), "Store Failed/ConfirmedNotApplied, attempt 1 NotApplied", "because"},
		{"hazard 13: naming the record of a submission that is gone", seen(asked, gone, was(1, naming(theRecord))), "Store Success/ConfirmedApplied, attempt 1 Applied", ""},
		{"before it is asked", seen(recorded(unknown), was(1)), "Store Success/ConfirmedApplied, attempt 1 Applied", ""},
		{"without the template", seen(asked, notFound, wasNot(1)), "Store Failed/ConfirmedNotApplied, attempt 1 NotApplied", ""},
		{"an attempt that is open", seen(recorded(), flight(FlightRunning), was(1)), "Judge Refused", "still being carried out"},
		{"an open attempt after one in doubt", seen(recorded(unsettled), flight(FlightRunning), wasNot(1)), "Judge Refused", ""},
		{"nothing in doubt", seen(recorded(retrying), wasNot(1)), "Judge Refused", "nothing to confirm"},
		{"finished", seen(recorded(hasSucceeded), wasNot(1)), "Judge Refused", "finished"},
		{"failed", seen(recorded(hasFailed), was(1)), "Judge Refused", "finished"},
		{"of two at once", seen(recorded(hasSucceeded, endedBy(v1alpha1.DecisionConfirmApplied)), wasNot(1)), "Judge Superseded", `"first" (ConfirmApplied) came first`},
		{"of an earlier attempt", seen(recorded(unknown, number(2)), was(1)), "Judge Superseded", ""},
		{"what did not happen has no result", seen(asked, wasNot(1, withResult(`1`))), "Judge Refused", "only ConfirmApplied has a result"},
		{"without a record", seen(readNothing, was(1)), "Judge Refused", ""},
		{"a result that is too large", seen(asked, was(1, withResult(`"`+strings.Repeat("x", 16<<10)+`"`))), "Judge Refused", "16 KiB"},
		{"what an old cache shows, after a later decision", seen(recorded(unknown, func(a *v1alpha1.Action) {
			a.Decision = &v1alpha1.DecisionRef{UID: "later", At: *in(time.Hour)}
		}), wasNot(1, func(d *v1alpha1.TaskDecision) { d.CreationTimestamp = *ago(time.Hour) })), "Judge Superseded", "a later decision"},
		{"no such action", seen(asked, decided("Shrug", 1)), "Judge Refused", "no such action"},
		{"the oldest first", seen(asked, wasNot(1), was(1)), "Store Failed/ConfirmedNotApplied, attempt 1 NotApplied", ""},
	})
	a := Decide(seen(asked, was(1, withResult(`{"b": 1, "a": 2}`)))).(Store).Action
	want, _ := v1alpha1.Digest([]byte(`{"a":2,"b":1}`))
	if a.ResultDigest != want || string(a.Result.Raw) != `{"b": 1, "a": 2}` {
		t.Errorf("the result of a confirmation: %+v", a)
	}
	if a := Decide(seen(asked, was(1))).(Store).Action; a.Result != nil || a.ResultDigest != "" {
		t.Errorf("no result: %+v", a)
	}
	long := Decide(seen(asked, was(1, func(d *v1alpha1.TaskDecision) { d.Spec.Reason = strings.Repeat("x", 3000) }))).(Store).Action
	if len(long.Message) > 1024 || len(long.Decision.Reason) > 512 {
		t.Errorf("hazard 26: a long reason blocks the record")
	}
}

func TestReleaseHazard18(t *testing.T) {
	release := decided(v1alpha1.DecisionRelease, 1)
	done := recorded(hasSucceeded)
	decideAll(t, []row{
		{"the claim is read", seen(done, businessKey, release), "ReadClaim", ""},
		{"held, it is released as it was read", seen(done, businessKey, claimedByMe, release), "Release", ""},
		{"released before a crash", seen(done, businessKey, claimFree, release), "Judge Applied", "not held"},
		{"released before a crash, and taken by another", seen(done, businessKey, claimedByOther(), release), "Judge Applied", "not held"},
		{"its submission is gone", seen(done, businessKey, gone, claimedByMe, decided(v1alpha1.DecisionRelease, 1, naming(theRecord))), "Release", ""},
		{"no business key", seen(done, release), "Judge Refused", "holds no business key"},
		{"a duplicate holds none", seen(recorded(hasSucceeded, func(a *v1alpha1.Action) { a.DuplicateOf = "first" }), businessKey, claimedByOther(hasSucceeded), release), "Judge Refused", "holds no business key"},
		{"failed", seen(recorded(hasFailed), businessKey, claimedByMe, release), "Judge Refused", "only a successful"},
		{"unknown", seen(recorded(unknown), businessKey, claimedByMe, release), "Judge Refused", "only a successful"},
		{"of an earlier attempt", seen(recorded(hasSucceeded, number(2)), businessKey, claimedByMe, release), "Judge Superseded", ""},
	})
}
