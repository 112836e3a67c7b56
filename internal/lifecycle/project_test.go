package lifecycle

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func TestProjectARecord(t *testing.T) {
	for _, test := range []struct {
		reason string
		given  Observation
		phase  v1alpha1.Phase
		why    v1alpha1.Reason
		says   string
	}{
		{"it runs here", seen(recorded(), flight(FlightRunning)), v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting, "is being carried out"},
		{"it runs elsewhere, perhaps", seen(recorded(executor(somebodyElse))), v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting, "may be gone"},
		{"taken on", seen(recorded(accepted)), v1alpha1.PhaseProcessing, v1alpha1.ReasonInProgress, ""},
		{"retrying", seen(recorded(retrying)), v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying, ""},
		{"retrying, no slot", seen(recorded(retrying), flight(FlightFull)), v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying, "limits"},
		{"retrying, credentials are refused", seen(recorded(retrying), paused(time.Minute)), v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying, "credentials (401): correct the Secrets"},
		{"retrying, no template", seen(recorded(retrying), notFound), v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying, "waits for the template: there is none"},
		{"retrying, refused by the template now", seen(recorded(retrying), problem(v1alpha1.ReasonInvalidParameters)), v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying, "refuses the parameters now: wrong"},
		{"retrying, to be approved again", seen(recorded(retrying, approvedUnder(digest)), approved, wasEdited), v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying, "approve attempt 1 again with templateDigest " + edited},
		{"opened again, and never approved", seen(recorded(retrying), approved, wasEdited), v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying, "nobody gave one so far; approve attempt 1 with templateDigest " + edited},
		{"retrying, being deleted", seen(recorded(retrying), deleting), v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying, "being deleted"},
		{"I9: what came of it cannot be stored", seen(recorded(), flight(FlightFinished), refusedWith("exceeded quota")), v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting, "the API server said: exceeded quota"},
		{"what has ended is not undone by a refusal", seen(recorded(hasSucceeded), refusedWith("exceeded quota")), v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied, "it ended"},
		{"verifying", seen(recorded(unknown), verifies), v1alpha1.PhaseProcessing, v1alpha1.ReasonVerifying, ""},
		{"I9: unsettled, and no template to find out", seen(recorded(unknown), verifies, notFound), v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown, "cannot be used to find out: there is none"},
		{"I9: in progress, and no template to find out", seen(recorded(accepted), notReady), v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown, "there is none"},
		{"a person is asked", seen(recorded(unknown, because(v1alpha1.ReasonOutcomeUnknown))), v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown, ""},
		{"held, and never sent", seen(recorded(isHeld), businessKey), v1alpha1.PhasePending, v1alpha1.ReasonBusinessKeyHeld, ""},
		{"held, and sent before", seen(recorded(isHeld, tries(1)), businessKey), v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying, ""},
		{"held by what is left alone", seen(recorded(isHeld), businessKey, claimedByOther(retrying, expiresIn(time.Hour))), v1alpha1.PhasePending, v1alpha1.ReasonBusinessKeyHeld, "action Cancel, submission first, uid other-uid and attempt 1"},
		{"held by what is left alone, and kept for good", seen(recorded(isHeld), businessKey, claimedByOther(retrying, neverAgain)), v1alpha1.PhasePending, v1alpha1.ReasonBusinessKeyHeld, "kubectl taskonce cancel first -n shop"},
		{"held by what a person is asked about", seen(recorded(isHeld), businessKey, claimedByOther(unknown, neverAgain, because(v1alpha1.ReasonOutcomeUnknown))), v1alpha1.PhasePending, v1alpha1.ReasonBusinessKeyHeld, ""},
		{"held by what is carried out", seen(recorded(isHeld), businessKey, claimedByOther(neverAgain)), v1alpha1.PhasePending, v1alpha1.ReasonBusinessKeyHeld, ""},
		{"held by what goes on", seen(recorded(isHeld), businessKey, claimedByOther(retrying)), v1alpha1.PhasePending, v1alpha1.ReasonBusinessKeyHeld, ""},
		{"a Secret is missing", seen(recorded(retrying, tries(0), because(v1alpha1.ReasonDependencyMissing))), v1alpha1.PhasePending, v1alpha1.ReasonDependencyMissing, ""},
		{"a Secret is missing by now", seen(recorded(retrying, because(v1alpha1.ReasonDependencyMissing))), v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying, ""},
		{"it succeeded", seen(recorded(hasSucceeded)), v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied, "it ended"},
		{"it failed", seen(recorded(hasFailed)), v1alpha1.PhaseFailed, v1alpha1.ReasonRejected, "it ended"},
	} {
		before := snapshot(t, test.given)
		s := Project(test.given)
		checkUntouched(t, before, test.given)
		if s.Phase != test.phase || s.Reason != test.why || !strings.Contains(s.Message, test.says) {
			t.Errorf("%s: %s/%s %q", test.reason, s.Phase, s.Reason, s.Message)
		}
		if s.Attempts != 1 || s.RecordName != v1alpha1.RecordName("k") || (s.ExpiresAt != nil) != s.Phase.Terminal() || s.BusinessKey != test.given.BusinessKey || !s.StartedAt.Time.Equal(t0) {
			t.Errorf("%s: %+v", test.reason, s)
		}
		if !strings.Contains(s.Message, test.given.action().Message) && test.says == "" {
			t.Errorf("%s: the record's message is lost: %q", test.reason, s.Message)
		}
		checkStatus(t, test.given, s)
		checkStable(t, test.given, s, time.Hour)
	}
}

func TestProjectKeepsWhatEnded(t *testing.T) {
	ended := v1alpha1.TaskSubmissionStatus{Phase: v1alpha1.PhaseSuccess, Reason: v1alpha1.ReasonApplied, Message: "done", Attempts: 3, CompletedAt: ago(time.Hour), ObservedGeneration: 1}
	o := seen(readNothing, notFound, status(func(s *v1alpha1.TaskSubmissionStatus) { *s = ended }))
	if s := Project(o); asJSON(t, s) != asJSON(t, ended) {
		t.Errorf("a result whose record is gone stands: %+v", s)
	}
}

func TestProjectTimes(t *testing.T) {
	o := seen(problem(v1alpha1.ReasonInvalidParameters), later(1500*time.Millisecond))
	first := Project(o)
	if !first.CompletedAt.Equal(in(time.Second)) || first.Conditions[0].LastTransitionTime.Time != t0.Add(time.Second) {
		t.Errorf("times are whole seconds: %+v", first)
	}
	o.Submission.Status = first
	o.Now = o.Now.Add(time.Hour)
	if again := Project(o); asJSON(t, again) != asJSON(t, first) {
		t.Errorf("it changes by itself: %+v", again)
	}

	o = seen(recorded(unknown), verifies)
	o.Submission.Status = Project(o)
	o.Submission.Status.Conditions = append(o.Submission.Status.Conditions, metav1.Condition{Type: "Other", Status: metav1.ConditionTrue, Reason: "X"})
	o.Now = o.Now.Add(time.Minute)
	o.action().Reason, o.action().Message = v1alpha1.ReasonOutcomeUnknown, "a person is asked"
	kinds := map[string]time.Duration{}
	for _, condition := range Project(o).Conditions {
		kinds[condition.Type] = condition.LastTransitionTime.Sub(t0)
	}
	if _, reconciling := kinds[v1alpha1.ConditionReconciling]; reconciling || kinds[v1alpha1.ConditionReady] != 0 || kinds[v1alpha1.ConditionStalled] != time.Minute {
		t.Errorf("a condition that stays keeps its time: %v", kinds)
	}
	if _, kept := kinds["Other"]; !kept {
		t.Error("a condition of somebody else was removed")
	}
}

func TestLongMessagesAreCutHazard26(t *testing.T) {
	long := strings.Repeat("ö", 2000)
	for _, given := range []Observation{
		seen(func(o *Observation) { o.Problem = &Problem{Reason: v1alpha1.ReasonInvalidParameters, Message: long} }),
		seen(notReady, template(func(t *Template) { t.Message = long })),
		seen(recorded(unknown), notReady, template(func(t *Template) { t.Message = long })),
		seen(recorded(retrying), notReady, template(func(t *Template) { t.Message = long })),
	} {
		if s := Project(given); len(s.Message) > 1024 || len(s.Message) < 1000 {
			t.Errorf("%d bytes", len(s.Message))
		}
	}
	for _, report := range []Report{{Outcome: v1alpha1.OutcomeNotApplied, Message: long, Permanent: true}, {Outcome: v1alpha1.OutcomeUnknown, Message: long}, {Outcome: v1alpha1.OutcomeApplied, Message: long}} {
		for _, action := range []func(*v1alpha1.Action){func(*v1alpha1.Action) {}, unsettled, hasFailed} {
			o := seen(recorded(action), reported(report))
			checkStep(t, o, Decide(o))
		}
	}
}

func TestLeftAloneAndAppliedAgainShowsNoEnd(t *testing.T) {
	o := seen(recorded(retrying, expiresIn(time.Hour)), recreated, flight(FlightFull))
	checkStatus(t, o, Project(o))
}

// TestProjectSaysWhoseOutcomeItIs where it is not the submission's own: a gateway judges by that who may read it.
func TestProjectSaysWhoseOutcomeItIs(t *testing.T) {
	ofAnother := func(a *v1alpha1.Action) { a.DuplicateOf, a.OutcomeOnBehalfOf = "first", "stu-8" }
	for _, test := range []struct {
		reason string
		given  Observation
		want   string
	}{
		{"its own", seen(recorded(hasSucceeded, forStudent)), ""},
		{"an earlier one's of its key", seen(recorded(hasSucceeded, forStudent), recreated), "stu-7"},
		{"an earlier one's, which failed", seen(recorded(hasFailed, forStudent), recreated), "stu-7"},
		{"an earlier one's, for nobody else", seen(recorded(hasSucceeded), recreated), ""},
		{"that of the first one for its business key", seen(recorded(hasSucceeded, forStudent, ofAnother)), "stu-8"},
		{"the same, applied again", seen(recorded(hasSucceeded, forStudent, ofAnother), recreated), "stu-8"},
		{"nobody's: the key stands for another action", seen(recorded(hasSucceeded, forStudent), recreated, otherPayload), ""},
	} {
		if got := Project(test.given).OutcomeOnBehalfOf; got != test.want {
			t.Errorf("%s: %q, want %q", test.reason, got, test.want)
		}
	}
}
