package lifecycle

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func named(name, key string) option {
	return submission(func(s *v1alpha1.TaskSubmission) { s.Name, s.Spec.IdempotencyKey = name, key })
}
func notBefore(at *metav1.Time) option {
	return submission(func(s *v1alpha1.TaskSubmission) { s.Spec.NotBefore = at })
}
func notAfter(at *metav1.Time) option {
	return submission(func(s *v1alpha1.TaskSubmission) { s.Spec.NotAfter = at })
}

func TestStraightPathReadsNothing(t *testing.T) {
	decideAll(t, []row{
		{"nothing stands in the way", seen(), "Begin 1", ""},
		{"with a business key too", seen(businessKey), "Begin 1", ""},
		{"notBefore has come", seen(notBefore(ago(0))), "Begin 1", ""},
		{"notAfter has not come", seen(notAfter(in(time.Second))), "Begin 1", ""},
		{"the record was read and there is none", seen(readNothing), "Begin 1", ""},
		{"an approval is there", seen(approved, decided(v1alpha1.DecisionApprove, 0)), "Begin 1", ""},
		{"a stated key with its name", seen(named("a-b-jsfphb37vftjrslzjb5j4sdmja", "a:b")), "Wait", ""},
		{"no record and no submission", seen(gone, readNothing), "Wait", ""},
		{"a record may be there although the submission is gone", seen(gone), "ReadRecord", ""},
	})
}

func TestRecordAnswersFirstRule1Hazard10(t *testing.T) {
	for reason, given := range map[string]option{
		"the template is gone":               notFound,
		"the template does not compile":      notReady,
		"the template is suspended":          suspended,
		"approval became required":           approved,
		"the schema changed":                 problem(v1alpha1.ReasonInvalidParameters),
		"the key is not the template's":      problem(v1alpha1.ReasonKeyMismatch),
		"it is too early":                    notBefore(in(time.Hour)),
		"it is too late":                     notAfter(ago(time.Hour)),
		"it was cancelled":                   decided(v1alpha1.DecisionCancel, 0),
		"it is being deleted":                deleting,
		"the queue does not move":            queueing(QuietInQueue),
		"status speaks of attempts":          status(func(s *v1alpha1.TaskSubmissionStatus) { s.Attempts = 1 }),
		"status says Processing":             status(func(s *v1alpha1.TaskSubmissionStatus) { s.Phase = v1alpha1.PhaseProcessing }),
		"status says Success":                status(func(s *v1alpha1.TaskSubmissionStatus) { s.Phase = v1alpha1.PhaseSuccess }),
		"status names a record":              status(func(s *v1alpha1.TaskSubmissionStatus) { s.RecordName = "ik-x" }),
		"the answer to a begin was lost":     flight(FlightUnacknowledged),
		"an attempt was granted":             flight(FlightGranted),
		"an attempt runs":                    flight(FlightRunning),
		"a report could not be stored":       reported(applied),
		"a refusal could not be stored":      reported(refusal),
		"a check could not be stored either": checked(SettledVerification, refusal),
	} {
		decideAll(t, []row{
			{reason + ", nothing read", seen(given), "ReadRecord", ""},
		})
		if strings.Contains(reason, "stored") || strings.HasPrefix(reason, "an attempt") || strings.HasPrefix(reason, "the answer") {
			continue
		}
		for _, end := range []func(*v1alpha1.Action){hasSucceeded, hasFailed} {
			o := seen(recreated, recorded(end, expiresIn(1000*time.Hour)), dueIn(time.Hour), given)
			o.Decisions = nil
			if step := words(&o, Decide(o)); step != "Wait" {
				t.Errorf("%s, and the record has the outcome: %s", reason, step)
			}
			s := Project(o)
			if s.Phase != o.action().Phase || s.Reason != o.action().Reason || !s.Replayed || s.ResultDigest != o.action().ResultDigest {
				t.Errorf("I8: %s: the outcome is not replayed: %+v", reason, s)
			}
		}
	}
}

func TestGate(t *testing.T) {
	decideAll(t, []row{
		{"I10: a wrong name needs no record", seen(named("wrong", "a:b")), "Wait", ""},
		{"I10: a name that looks derived cannot be its own key", seen(named(strings.Repeat("a", 26), "")), "Wait", ""},
		{"I10: wrong parameters have no record", seen(readNothing, problem(v1alpha1.ReasonInvalidParameters)), "Wait", ""},
		{"I10: wrong parameters, being late", seen(readNothing, problem(v1alpha1.ReasonInvalidParameters), notAfter(ago(time.Second))), "Wait", ""},
		{"rule 2, hazard 9: too late is a record", seen(readNothing, notAfter(ago(0))), "Store Failed/TooLate, attempt 0", "not begun by its notAfter"},
		{"credentials are refused: the record answers first", seen(paused(time.Minute)), "ReadRecord", ""},
		{"credentials are refused", seen(readNothing, paused(time.Minute)), "Wait 1m0s", ""},
		{"credentials are refused, and too late before the next probe", seen(readNothing, paused(time.Minute), notAfter(in(time.Second))), "Wait 1s", ""},
		{"the time of a probe has come", seen(paused(0)), "Begin 1", ""},
		{"between attempts, credentials are refused", seen(recorded(retrying), paused(time.Minute)), "Wait 1m0s", ""},
		{"between attempts, the time of a probe has come", seen(recorded(retrying), paused(0)), "Begin 2", ""},
		{"what holds a business key back is looked at all the same", seen(recorded(isHeld), businessKey, claimedByOther(hasSucceeded), paused(time.Minute)), "Store Success/AlreadyApplied, attempt 1 NotApplied", ""},
		{"what may have been applied is asked after all the same", seen(recorded(unknown), verifies, paused(time.Minute)), "Verify", ""},
		{"rule 2, hazard 9: cancelled is a record", seen(readNothing, decided(v1alpha1.DecisionCancel, 0)), "Store Failed/Cancelled, attempt 0", "because"},
		{"cancelled without its template", seen(readNothing, notFound, decided(v1alpha1.DecisionCancel, 0)), "Store Failed/Cancelled, attempt 0", ""},
		{"the template is awaited", seen(readNothing, notFound), "Wait", ""},
		{"the template is awaited, until notAfter", seen(readNothing, notReady, notAfter(in(time.Minute))), "Wait 1m0s", ""},
		{"suspension is awaited", seen(readNothing, suspended), "Wait", ""},
		{"an approval is awaited, until notAfter", seen(readNothing, approved, notAfter(in(time.Minute))), "Wait 1m0s", ""},
		{"notBefore is awaited", seen(readNothing, notBefore(in(time.Minute))), "Wait 1m0s", ""},
		{"whichever is first", seen(readNothing, notBefore(in(time.Minute)), notAfter(in(time.Hour))), "Wait 1m0s", ""},
		{"a queue that moves is waited in quietly, and nothing is read", seen(queueing(time.Second)), "Wait 4s quiet", ""},
		{"a queue that moves, until the rate allows it", seen(queueing(0), func(o *Observation) { o.Flight.FreeAt = t0.Add(time.Second) }), "Wait 1s quiet", ""},
		{"a person is answered at once, in any queue", seen(queueing(time.Second), decided(v1alpha1.DecisionRetry, 0)), "ReadRecord", ""},
		{"a status that has a history is never trusted, in any queue", seen(queueing(time.Second), status(func(s *v1alpha1.TaskSubmissionStatus) { s.Attempts = 1 })), "ReadRecord", ""},
		{"limits are awaited", seen(readNothing, flight(FlightFull)), "Wait 30s", ""},
		{"limits are awaited, until the rate allows it", seen(readNothing, flight(FlightFull), func(o *Observation) { o.Flight.FreeAt = t0.Add(time.Second) }), "Wait 1s", ""},
		{"the rate allowed it just now", seen(readNothing, flight(FlightFull), func(o *Observation) { o.Flight.FreeAt = t0.Add(-time.Second) }), "Wait 1ms", ""},
		{"hazard 24: nothing begins for what is being deleted", seen(readNothing, deleting), "Wait", ""},
		{"a status without a record that has ended stands", seen(readNothing, status(func(s *v1alpha1.TaskSubmissionStatus) { s.Phase = v1alpha1.PhaseFailed })), "Wait", ""},
	})
}

func TestGateSays(t *testing.T) {
	for _, test := range []struct {
		reason string
		given  Observation
		phase  v1alpha1.Phase
		why    v1alpha1.Reason
		says   string
	}{
		{"an invalid key", seen(named("wrong", " x")), v1alpha1.PhaseFailed, v1alpha1.ReasonInvalidName, "white space"},
		{"the name of another key", seen(named("wrong", "a:b")), v1alpha1.PhaseFailed, v1alpha1.ReasonInvalidName, `set metadata.name to it`},
		{"a name that cannot be a key", seen(named("x-"+strings.Repeat("a", 26), "")), v1alpha1.PhaseFailed, v1alpha1.ReasonInvalidName, "cannot be its own key"},
		{"its record is refused (I9)", seen(refusedWith("exceeded quota")), v1alpha1.PhasePending, v1alpha1.ReasonDependencyMissing, "lift the quota"},
		{"credentials are refused", seen(paused(time.Minute)), v1alpha1.PhasePending, v1alpha1.ReasonDependencyMissing, "credentials (401): correct the Secrets"},
		{"wrong parameters", seen(problem(v1alpha1.ReasonInvalidParameters)), v1alpha1.PhaseFailed, v1alpha1.ReasonInvalidParameters, "wrong"},
		{"another key than the template's", seen(problem(v1alpha1.ReasonKeyMismatch)), v1alpha1.PhaseFailed, v1alpha1.ReasonKeyMismatch, "wrong"},
		{"a problem that a template which is not ready cannot know", seen(notReady, problem(v1alpha1.ReasonKeyMismatch)), v1alpha1.PhasePending, v1alpha1.ReasonTemplateNotReady, "there is none"},
		{"no template", seen(notFound), v1alpha1.PhasePending, v1alpha1.ReasonTemplateNotFound, `"tpl"`},
		{"suspended", seen(suspended), v1alpha1.PhasePending, v1alpha1.ReasonTemplateSuspended, "spec.suspend"},
		{"no approval", seen(approved), v1alpha1.PhasePending, v1alpha1.ReasonAwaitingApproval, "templateDigest " + digest},
		{"no approval, and it must be another person", seen(approved), v1alpha1.PhasePending, v1alpha1.ReasonAwaitingApproval, "another person"},
		{"no approval, and nobody knows who submitted it", seen(approved, submission(func(s *v1alpha1.TaskSubmission) { s.Annotations = nil })), v1alpha1.PhasePending, v1alpha1.ReasonAwaitingApproval, "admission did not record it"},
		{"too early", seen(notBefore(in(time.Hour))), v1alpha1.PhasePending, v1alpha1.ReasonNotYet, "notBefore"},
		{"approval comes before the time", seen(approved, notBefore(in(time.Hour))), v1alpha1.PhasePending, v1alpha1.ReasonAwaitingApproval, ""},
		{"no slot", seen(readNothing, flight(FlightFull)), v1alpha1.PhasePending, v1alpha1.ReasonLimitReached, "limits"},
		{"nothing in the way", seen(), v1alpha1.PhasePending, v1alpha1.ReasonAccepted, "about to begin"},
	} {
		s := Project(test.given)
		if s.Phase != test.phase || s.Reason != test.why || !strings.Contains(s.Message, test.says) {
			t.Errorf("%s: %s/%s %q", test.reason, s.Phase, s.Reason, s.Message)
		}
		checkStatus(t, test.given, s)
		checkStable(t, test.given, s, time.Second)
	}
}

func TestBegin(t *testing.T) {
	step := Decide(seen(approved, businessKey, decided(v1alpha1.DecisionApprove, 0), submission(func(s *v1alpha1.TaskSubmission) {
		s.Annotations[v1alpha1.AnnotationTraceparent] = "00-trace"
		s.Annotations[v1alpha1.AnnotationOnBehalfOf] = "stu-7"
	}))).(Begin)
	a := step.Action
	if a.PayloadDigest != payload || a.EffectDigest != digest || a.ApprovedDigest != digest || a.Approval == nil || a.Approval.By != "bob" ||
		a.Submitter != "ann" || a.OnBehalfOf != "stu-7" || a.Traceparent != "00-trace" || a.Submission != (v1alpha1.SubmissionRef{Name: "k", UID: theSubmission}) ||
		a.BusinessKey != "b" || a.Claim != v1alpha1.ClaimName("tpl", "b") || string(a.Parameters.Raw) != `{"n":1}` || !a.StartedAt.Time.Equal(t0) || a.UID != "" {
		t.Errorf("the journal of a first attempt: %+v", a)
	}
	if a.Attempt.Timeout.Duration != timeout || a.Attempt.Executor != me || !a.Attempt.StartedAt.Equal(micro(t0)) {
		t.Errorf("I2, hazard 5: the attempt as it is stored: %+v", a.Attempt)
	}

	long := Decide(seen(submission(func(s *v1alpha1.TaskSubmission) {
		s.Annotations[v1alpha1.AnnotationTraceparent] = strings.Repeat("x", 129)
		s.Annotations[v1alpha1.AnnotationSubmittedBy] = strings.Repeat("x", 2000)
		s.Annotations[v1alpha1.AnnotationOnBehalfOf] = strings.Repeat("y", 2000)
	}))).(Begin)
	if long.Action.Traceparent != "" || len(long.Action.Submitter) > 1024 || len(long.Action.OnBehalfOf) > 1024 {
		t.Errorf("hazard 26: annotations block the record: %+v", long.Action)
	}

	again := Decide(seen(later(time.Minute), recorded(retrying, func(a *v1alpha1.Action) { a.History = make([]v1alpha1.Attempt, 10); a.Attempt.Number = 11 }))).(Begin)
	if a := again.Action; a.Attempt.Number != 12 || len(a.History) != 10 || a.History[9].Number != 11 || a.History[9].Outcome != v1alpha1.OutcomeNotApplied || !a.StartedAt.Time.Equal(t0) || a.UID != theRecord {
		t.Errorf("the journal of a later attempt: %+v", again.Action)
	}
}

// TestOnWhoseBehalfIsWrittenLater into a record that does not say it, where the submission that it was made for still does.
func TestOnWhoseBehalfIsWrittenLater(t *testing.T) {
	said := func(who string) option {
		return submission(func(s *v1alpha1.TaskSubmission) { s.Annotations[v1alpha1.AnnotationOnBehalfOf] = who })
	}
	applied := reported(Report{Outcome: v1alpha1.OutcomeApplied})
	for _, test := range []struct {
		reason string
		given  Observation
		want   string
	}{
		{"as the next attempt begins", seen(recorded(retrying), later(time.Minute), said("stu-7")), "stu-7"},
		{"as it ends", seen(recorded(), applied, said("stu-7")), "stu-7"},
		{"as it waits", seen(recorded(), reported(Report{Outcome: v1alpha1.OutcomeUnknown}), said("stu-7")), "stu-7"},
		{"for nobody else", seen(recorded(), applied), ""},
		{"an earlier submission's is not this one's", seen(recorded(), applied, said("stu-8"), recreated), ""},
		{"what was written first stays", seen(recorded(forStudent), applied, said("stu-8")), "stu-7"},
		{"cut", seen(recorded(), applied, said(strings.Repeat("y", 2000))), cut(strings.Repeat("y", 2000), maxMessage)},
	} {
		var got string
		switch step := Decide(test.given).(type) {
		case Begin:
			got = step.Action.OnBehalfOf
		case Store:
			got = step.Action.OnBehalfOf
		default:
			t.Errorf("%s: %T writes nothing", test.reason, step)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.reason, got, test.want)
		}
	}
	tomorrow := func(a *v1alpha1.Action) { a.NextAt = micro(t0.Add(24 * time.Hour)) }
	if step, waits := Decide(seen(recorded(retrying, tomorrow), said("stu-7"))).(Wait); !waits {
		t.Errorf("nothing is written for its sake alone: %+v", step)
	}
}

func TestAttemptIsGrantedByAnAcknowledgementAloneI2I3Hazard8(t *testing.T) {
	decideAll(t, []row{
		{"granted", seen(recorded(), flight(FlightGranted)), "Launch", ""},
		{"hazard 12: granted, and the template was edited", seen(recorded(), flight(FlightGranted), wasEdited), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", "never sent"},
		{"granted, and the template is gone", seen(recorded(), flight(FlightGranted), notFound), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", "never sent"},
		{"hazard 24: granted, and the submission is being deleted", seen(recorded(), flight(FlightGranted), deleting), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", "never sent"},
		{"hazard 24: granted, and the submission is gone", seen(recorded(), flight(FlightGranted), gone), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", "never sent"},
		{"hazard 12: the claim is held, and the template was edited", seen(recorded(), businessKey, flight(FlightGranted), claimedByMe, wasEdited), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", "never sent"},
		{"granted, but the record has another attempt", seen(recorded(number(2)), flight(FlightGranted)), "Abandon", ""},
		{"granted, but the attempt is another process's", seen(recorded(executor(somebodyElse)), flight(FlightGranted)), "Abandon", ""},
		{"granted, but the attempt was closed", seen(recorded(unknown), flight(FlightGranted)), "Abandon", ""},
		{"granted, and the action has ended", seen(recorded(hasSucceeded), flight(FlightGranted)), "Abandon", ""},
		{"granted, and the record is gone", seen(readNothing, flight(FlightGranted)), "Abandon", ""},
		{"the answer was lost, and the write did not land", seen(readNothing, flight(FlightUnacknowledged)), "Abandon", ""},
		{"the same without a submission", seen(gone, readNothing, flight(FlightUnacknowledged)), "Abandon", ""},
		{"the answer was lost, and the write landed", seen(recorded(), flight(FlightUnacknowledged)), "Store Processing/Retrying, attempt 1 NotApplied, in 0s", "never sent"},
		{"the same after an attempt in doubt", seen(recorded(unsettled), flight(FlightUnacknowledged)), "Store Processing/Verifying, attempt 1 NotApplied, unsettled, in 0s", "never sent"},
		{"the answer was lost, and another process was first", seen(recorded(executor(somebodyElse)), flight(FlightUnacknowledged)), "Abandon", ""},
		{"the answer was lost, and a restored record has an attempt of before", seen(recorded(begunAt(t0.Add(-time.Minute))), flight(FlightUnacknowledged)), "Abandon", ""},
		{"the answer was lost, and it is another attempt", seen(recorded(number(2)), flight(FlightUnacknowledged)), "Abandon", ""},
		{"the answer was lost, and the attempt is closed", seen(recorded(retrying), flight(FlightUnacknowledged)), "Abandon", ""},
		{"never sent, so the next attempt goes on", seen(recorded(retrying, tries(0))), "Begin 2", ""},
	})
}

func TestWaitingForAReport(t *testing.T) {
	running := func(d time.Duration) option { return func(o *Observation) { o.Flight.Running = d } }
	saysRetrying := status(func(s *v1alpha1.TaskSubmissionStatus) {
		s.Phase, s.Reason = v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying
	})
	decideAll(t, []row{
		{"a short effect needs no Processing", seen(recorded(), flight(FlightRunning), running(100*time.Millisecond)), "Wait 400ms quiet", ""},
		{"a longer one is shown", seen(recorded(), flight(FlightRunning), running(QuietFor)), "Wait", ""},
		{"nor does a short retry", seen(recorded(), flight(FlightRunning), running(100*time.Millisecond), saysRetrying), "Wait 400ms quiet", ""},
		{"a longer retry is shown", seen(recorded(), flight(FlightRunning), running(QuietFor), saysRetrying), "Wait", ""},
		{"what is shown is not hidden again", seen(recorded(), flight(FlightRunning), status(func(s *v1alpha1.TaskSubmissionStatus) { s.Phase = v1alpha1.PhaseProcessing })), "Wait", ""},
		{"a check is shown", seen(recorded(unknown), flight(FlightRunning), func(o *Observation) { o.Flight.Kind = Verification }), "Wait", ""},
		{"nobody is shown anything", seen(recorded(), gone, flight(FlightRunning)), "Wait", ""},
	})
}

func TestRecordDeletedWhileItsAttemptRuns(t *testing.T) {
	last := func(changes ...func(*v1alpha1.Action)) option {
		return func(o *Observation) {
			kept := seen(recorded(changes...))
			o.Record = Record{Read: true, Last: kept.action()}
		}
	}
	decideAll(t, []row{
		{"its report is awaited, and the status stays as it is", seen(last(), flight(FlightRunning)), "Wait quiet", ""},
		{"I9: what came of it is stored again", seen(last(), reported(applied)), "Store Success/Applied, attempt 1 Applied", ""},
		{"I9: a refusal too", seen(last(), reported(refusal)), "Store Failed/Rejected, attempt 1 NotApplied", ""},
		{"I9: also without its submission", seen(last(), gone, reported(noAnswer)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 1s", ""},
		{"an attempt that was not launched gives its slot back", seen(last(), flight(FlightGranted)), "Abandon", ""},
		{"then it is begun anew", seen(last(), flight(FlightNone)), "Begin 1", ""},
		{"a report of nothing", seen(readNothing, reported(applied)), "Abandon", ""},
	})
}

func TestStatusMakesMoreCarefulHazard19(t *testing.T) {
	attempts := func(n int32) option {
		return status(func(s *v1alpha1.TaskSubmissionStatus) { s.Phase, s.Attempts = v1alpha1.PhaseProcessing, n })
	}
	decideAll(t, []row{
		{"two attempts, and the record is gone", seen(readNothing, attempts(2)), "Store Processing/Verifying, attempt 2 Unknown, unsettled, in 0s", "its record is gone"},
		{"Processing without a number", seen(readNothing, attempts(0)), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"Pending with an attempt", seen(readNothing, status(func(s *v1alpha1.TaskSubmissionStatus) { s.Attempts = 1 })), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"the template is gone too", seen(readNothing, attempts(1), notFound), "Store Processing/Verifying, attempt 1 Unknown, unsettled, in 0s", ""},
		{"a person is asked then", seen(verifies, recorded(unknown, func(a *v1alpha1.Action) { a.EffectDigest = "" })), "Store Processing/OutcomeUnknown, attempt 1 Unknown, unsettled", "not known any more"},
	})
	o := seen(readNothing, attempts(2))
	if a := Decide(o).(Store).Action; !a.StartedAt.Equal(&o.Submission.CreationTimestamp) || a.Submitter != "ann" {
		t.Errorf("what the receiver remembers is counted from the creation: %+v", a)
	}
	o.Submission.Status.StartedAt = ago(time.Second)
	if a := Decide(o).(Store).Action; !a.StartedAt.Equal(ago(time.Second)) {
		t.Errorf("what the receiver remembers is counted from the begin: %+v", a.StartedAt)
	}
}
