package lifecycle

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// conditions says the same as phase and reason, as kstatus and "kubectl wait" read it. Reconciling and Stalled are
// there only while true; a condition that stays as it was keeps its time.
func conditions(o *Observation, status *v1alpha1.TaskSubmissionStatus) []metav1.Condition {
	var all []metav1.Condition
	for _, old := range o.Submission.Status.Conditions {
		all = append(all, *old.DeepCopy())
	}
	set := func(kind string, state metav1.ConditionStatus) {
		meta.SetStatusCondition(&all, metav1.Condition{
			Type: kind, Status: state, Reason: string(status.Reason), Message: status.Message,
			ObservedGeneration: o.Submission.Generation,
			LastTransitionTime: *second(o.Now), // not the machine's own
		})
	}
	only := func(kind string, present bool) {
		if present {
			set(kind, metav1.ConditionTrue)
		} else {
			meta.RemoveStatusCondition(&all, kind)
		}
	}
	ready := metav1.ConditionFalse
	if status.Phase == v1alpha1.PhaseSuccess {
		ready = metav1.ConditionTrue
	}
	stalled := status.Phase == v1alpha1.PhaseFailed || status.Reason == v1alpha1.ReasonOutcomeUnknown
	set(v1alpha1.ConditionReady, ready)
	only(v1alpha1.ConditionReconciling, !status.Phase.Terminal() && !stalled)
	only(v1alpha1.ConditionStalled, stalled)
	only(v1alpha1.ConditionFinished, status.Phase.Terminal())
	return all
}
