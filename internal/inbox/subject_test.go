package inbox_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
)

// What is between two attempts waits for a person where trying again waits for more than its time.
func TestWhatRetryingWaitsFor(t *testing.T) {
	under := func(conditions ...metav1.Condition) *v1alpha1.TaskTemplate {
		return &v1alpha1.TaskTemplate{Status: v1alpha1.TaskTemplateStatus{Conditions: conditions}}
	}
	is := func(kind string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status}
	}
	for _, test := range []struct {
		reason   string
		template *v1alpha1.TaskTemplate
		missing  bool
		want     v1alpha1.Reason
	}{
		{"its time", under(), false, ""},
		{"a receiver that accepts the credentials", under(is(v1alpha1.ConditionReady, metav1.ConditionTrue), is(v1alpha1.ConditionReceiverHealthy, metav1.ConditionTrue)), false, ""},
		{"no template", nil, false, v1alpha1.ReasonTemplateNotFound},
		{"a template that does not compile", under(is(v1alpha1.ConditionReady, metav1.ConditionFalse)), false, v1alpha1.ReasonTemplateNotReady},
		{"refused credentials", under(is(v1alpha1.ConditionReceiverHealthy, metav1.ConditionFalse)), false, v1alpha1.ReasonDependencyMissing},
		{"a Secret that is gone", under(), true, v1alpha1.ReasonDependencyMissing},
	} {
		action := &v1alpha1.Action{
			Phase: v1alpha1.PhaseProcessing, Reason: v1alpha1.ReasonRetrying,
			Attempt: v1alpha1.Attempt{Number: 1, Outcome: v1alpha1.OutcomeNotApplied, Missing: test.missing},
		}
		s := inbox.Subject{
			Submission: &v1alpha1.TaskSubmission{Status: v1alpha1.TaskSubmissionStatus{Phase: action.Phase, Reason: action.Reason}},
			Record:     &v1alpha1.TaskRecord{Spec: v1alpha1.TaskRecordSpec{Action: action}},
			Template:   test.template,
		}
		if got := s.Lacks(); got != test.want || s.WaitsFor() != inbox.Asks(test.want) {
			t.Errorf("%s: %q, in the inbox for %q", test.reason, got, s.WaitsFor())
		}
		if s.Submission = nil; !s.Left() || s.Lacks() != "" || s.WaitsFor() != "" {
			t.Errorf("%s, and its submission was deleted: nothing goes on, and nobody is waited for", test.reason)
		}
		if action.Attempt.Outcome, action.Unsettled = v1alpha1.OutcomeUnknown, true; s.Left() {
			t.Errorf("%s: what may have been applied is found out, also without its submission", test.reason)
		}
	}
}
