package telemetry

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// told returns what events said, one a line.
func told(observe func(*Events)) string {
	recorder := events.NewFakeRecorder(1000)
	observe(NewEvents(recorder))
	close(recorder.Events)
	var all []string
	for event := range recorder.Events {
		all = append(all, event)
	}
	return strings.Join(all, "\n")
}

func TestWhatPeopleAreTold(t *testing.T) {
	const processing, success, failed, pending = v1alpha1.PhaseProcessing, v1alpha1.PhaseSuccess, v1alpha1.PhaseFailed, v1alpha1.PhasePending
	const applied, notApplied, inProgress, unknown = v1alpha1.OutcomeApplied, v1alpha1.OutcomeNotApplied, v1alpha1.OutcomeInProgress, v1alpha1.OutcomeUnknown
	open := action(processing, v1alpha1.ReasonExecuting, 1, "", false)
	doubtful := action(processing, v1alpha1.ReasonVerifying, 1, unknown, true)
	asked := action(processing, v1alpha1.ReasonOutcomeUnknown, 1, unknown, true)
	accepted := State{pending, v1alpha1.ReasonAccepted}
	decision := func(action v1alpha1.DecisionAction) *v1alpha1.DecisionRef {
		return &v1alpha1.DecisionRef{Name: "d", Action: action, By: "jo", Reason: "I looked"}
	}
	for _, c := range []struct {
		reason string
		t      Transition
		want   string
	}{
		{"a begin", Transition{Kind: Stored, After: open}, ""},
		{"it was applied", Transition{Kind: Stored, Before: open, After: action(success, v1alpha1.ReasonApplied, 1, applied, false)}, ""},
		{"it is tried again", Transition{Kind: Stored, Before: open, After: action(processing, v1alpha1.ReasonRetrying, 1, notApplied, false)}, ""},
		{"it is being found out", Transition{Kind: Stored, Before: open, After: doubtful}, ""},
		{"an approved begin", Transition{Kind: Stored, After: open, Decision: decision(v1alpha1.DecisionApprove)}, "Normal Approved by jo: I looked"},
		{"nobody can tell", Transition{Kind: Stored, Before: doubtful, After: asked, Message: "look"}, "Warning OutcomeUnknown look"},
		{"still nobody can tell", Transition{Kind: Stored, Before: asked, After: asked}, ""},
		{"a person could", Transition{Kind: Stored, Before: asked, After: action(failed, v1alpha1.ReasonConfirmedNotApplied, 1, notApplied, false), Decision: decision(v1alpha1.DecisionConfirmNotApplied)},
			"Normal ConfirmedNotApplied by jo: I looked"},
		{"it took too long", Transition{Kind: Stored, Before: action(processing, v1alpha1.ReasonInProgress, 1, inProgress, true), After: doubtful, Message: "slow"}, "Warning Stuck slow"},
		{"it was refused", Transition{Kind: Stored, Before: open, After: action(failed, v1alpha1.ReasonRejected, 1, notApplied, false), Message: "422"}, "Warning Rejected 422"},
		{"another acts on the same thing", Transition{Kind: Stored, Before: open, After: action(processing, v1alpha1.ReasonBusinessKeyHeld, 1, notApplied, false), Message: "held"}, "Normal BusinessKeyHeld held"},
		{"it waits for an approval", Transition{Kind: Projected, From: accepted, To: State{pending, v1alpha1.ReasonAwaitingApproval}, Message: "approve"}, "Normal AwaitingApproval approve"},
		{"it waits for a template, which has an event of its own", Transition{Kind: Projected, From: accepted, To: State{pending, v1alpha1.ReasonTemplateNotReady}}, ""},
		{"its input is wrong", Transition{Kind: Projected, From: accepted, To: State{failed, v1alpha1.ReasonInvalidParameters}, Message: "params.x"}, "Warning InvalidParameters params.x"},
		{"its record has told", Transition{Kind: Projected, Echo: true, From: accepted, To: State{failed, v1alpha1.ReasonRejected}}, ""},
		{"a decision was refused", Transition{Kind: Judged, Decision: decision(v1alpha1.DecisionRetry), DecisionState: v1alpha1.DecisionRefused, Message: "it has not failed"}, "Warning DecisionRefused the decision d changed nothing: it has not failed"},
		{"a decision that its record has told", Transition{Kind: Judged, Decision: decision(v1alpha1.DecisionRetry), DecisionState: v1alpha1.DecisionApplied}, ""},
		{"a release", Transition{Kind: Released, Decision: decision(v1alpha1.DecisionRelease)}, "Normal Released by jo: I looked"},
		{"what was removed in time", Transition{Kind: Removed}, ""},
	} {
		c.t.Submission = &v1alpha1.TaskSubmission{}
		if got := told(func(e *Events) { e.Observe(&c.t) }); got != c.want {
			t.Errorf("%s: told %q; want %q", c.reason, got, c.want)
		}
		c.t.Submission = nil
		if got := told(func(e *Events) { e.Observe(&c.t) }); got != "" {
			t.Errorf("%s: told %q of nothing", c.reason, got)
		}
	}
}

func TestWhatPeopleAreToldOfTemplates(t *testing.T) {
	bad := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: "Invalid", Message: "spec.effect"}
	good := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Compiled", Message: "use it"}
	refused := metav1.Condition{Type: v1alpha1.ConditionReceiverHealthy, Status: metav1.ConditionFalse, Reason: "CredentialsRefused", Message: "401"}
	for _, c := range []struct {
		reason        string
		before, after []metav1.Condition
		want          string
	}{
		{"a new one", nil, []metav1.Condition{good}, ""},
		{"a new one that is wrong", nil, []metav1.Condition{bad}, "Warning Invalid spec.effect"},
		{"still wrong", []metav1.Condition{bad}, []metav1.Condition{bad}, ""},
		{"mended", []metav1.Condition{bad}, []metav1.Condition{good}, "Normal Compiled use it"},
		{"refused", []metav1.Condition{good}, []metav1.Condition{good, refused}, "Warning CredentialsRefused 401"},
		{"edited while refused", []metav1.Condition{good, refused}, []metav1.Condition{good}, ""},
	} {
		template := &v1alpha1.TaskTemplate{Status: v1alpha1.TaskTemplateStatus{Conditions: c.after}}
		if got := told(func(e *Events) { e.Template(template, c.before) }); got != c.want {
			t.Errorf("%s: told %q; want %q", c.reason, got, c.want)
		}
	}
}

func TestEventsAreFew(t *testing.T) {
	before := testutil.ToFloat64(eventsDropped)
	got := told(func(e *Events) {
		for range 2 * eventsAtOnce {
			e.Observe(&Transition{
				Kind: Projected, Submission: &v1alpha1.TaskSubmission{}, To: State{v1alpha1.PhasePending, v1alpha1.ReasonAwaitingApproval}, Message: strings.Repeat("ä", maxNote),
			})
		}
	})
	sent := strings.Count(got, "AwaitingApproval")
	if dropped := testutil.ToFloat64(eventsDropped) - before; sent < eventsAtOnce || sent+int(dropped) != 2*eventsAtOnce || dropped == 0 {
		t.Errorf("%d were sent, %v dropped", sent, dropped)
	}
	for event := range strings.SplitSeq(got, "\n") {
		if len(strings.TrimPrefix(event, "Normal AwaitingApproval ")) > maxNote || !strings.HasSuffix(event, "ä…") {
			t.Fatalf("a note that the API server refuses: %d bytes", len(event))
		}
	}
}
