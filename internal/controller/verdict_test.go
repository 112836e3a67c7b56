package controller

import (
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// An operator with an old template may write InvalidParameters just while another one begins. That takes the submission
// out of every cache, so whoever carries the effect out must bring its status back itself (I5, I9).
func TestAVerdictFromAnOldTemplateDoesNotOutliveTheRecord(t *testing.T) {
	w := newWorld(scenario{processes: 1}.ready())
	operator, name := w.processes[0].submissions, w.names()[0]
	request := ctrl.Request{NamespacedName: name}
	if _, err := operator.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}

	other := w.submissionOf(name.Name).DeepCopy()
	other.Status = v1alpha1.TaskSubmissionStatus{Phase: v1alpha1.PhaseFailed, Reason: v1alpha1.ReasonInvalidParameters}
	w.put(other)
	w.processes[0].cache = w.cached()
	operator.flights.(*modelFlights).all[name].end(effect.Outcome{Kind: v1alpha1.OutcomeApplied}, nil)
	if _, err := operator.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}

	if status := w.submissionOf(name.Name).Status; status.Phase != v1alpha1.PhaseSuccess {
		t.Errorf("the effect was applied and the record says %s, and the status says %s/%s; want Success",
			w.recordOf(name.Name).Spec.Action.Phase, status.Phase, status.Reason)
	}
}
