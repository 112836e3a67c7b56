package gitops

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// The controller's specs hold every status that they come by against these readings; here is what they do not come by.

func conditions(status metav1.ConditionStatus, kinds ...string) (all []metav1.Condition) {
	for _, kind := range kinds {
		all = append(all, metav1.Condition{Type: kind, Status: status, Reason: "R", Message: "it says why"})
	}
	return all
}

func TestObjectsAsToolsReadThem(t *testing.T) {
	at := metav1.Now()
	fresh := &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Generation: 1}, Status: v1alpha1.TaskSubmissionStatus{Phase: v1alpha1.PhasePending, ObservedGeneration: -1}}
	leaving := fresh.DeepCopy()
	leaving.DeletionTimestamp = &at
	template := func(generation, observed int64, all ...metav1.Condition) *v1alpha1.TaskTemplate {
		return &v1alpha1.TaskTemplate{ObjectMeta: metav1.ObjectMeta{Generation: generation}, Status: v1alpha1.TaskTemplateStatus{ObservedGeneration: observed, Conditions: all}}
	}
	broken := append(conditions(metav1.ConditionFalse, v1alpha1.ConditionReady), conditions(metav1.ConditionTrue, v1alpha1.ConditionStalled)...)
	decision := func(state v1alpha1.DecisionState) *v1alpha1.TaskDecision {
		return &v1alpha1.TaskDecision{ObjectMeta: metav1.ObjectMeta{Generation: 1}, Status: v1alpha1.TaskDecisionStatus{State: state}}
	}
	for _, test := range []struct {
		reason, kind  string
		object        any
		kstatus, argo string
	}{
		{"a submission that the operator has not seen", "TaskSubmission", fresh, "InProgress", "Progressing"},
		{"one that is being deleted", "TaskSubmission", leaving, "Terminating", "Progressing"},
		{"a template that compiles", "TaskTemplate", template(1, 1, conditions(metav1.ConditionTrue, v1alpha1.ConditionReady)...), "Current", "Healthy"},
		{"a template that does not", "TaskTemplate", template(1, 1, broken...), "Failed", "Degraded"},
		{"a template that was edited just now", "TaskTemplate", template(2, 1, conditions(metav1.ConditionTrue, v1alpha1.ConditionReady)...), "InProgress", "Progressing"},
		{"a decision that was applied", "TaskDecision", decision(v1alpha1.DecisionApplied), "Current", "Healthy"},
		{"one that came too late", "TaskDecision", decision(v1alpha1.DecisionSuperseded), "Current", "Healthy"},
	} {
		kind := schema.GroupVersionKind{Group: v1alpha1.GroupVersion.Group, Version: v1alpha1.GroupVersion.Version, Kind: test.kind}
		if got, err := Kstatus(test.object, kind); string(got) != test.kstatus {
			t.Errorf("%s: kstatus says %s (%v), want %s", test.reason, got, err, test.kstatus)
		}
		if got, err := ArgoCD(test.object, kind); got.Status != test.argo || got.Message == "" {
			t.Errorf("%s: Argo CD says %+v (%v), want %s", test.reason, got, err, test.argo)
		}
	}
	kind := v1alpha1.GroupVersion.WithKind("TaskDecision")
	for state, want := range map[v1alpha1.DecisionState]string{v1alpha1.DecisionPending: "Progressing", v1alpha1.DecisionRefused: "Degraded"} {
		if got, err := ArgoCD(decision(state), kind); got.Status != want {
			t.Errorf("a decision that is %s: Argo CD says %+v (%v), want %s", state, got, err, want)
		}
	}
	if _, err := ArgoCD(fresh, v1alpha1.GroupVersion.WithKind("TaskRecord")); err == nil {
		t.Error("a script was found where there is none")
	}
}
