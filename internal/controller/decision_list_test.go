package controller

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// listless is an API server that answers no list.
type listless struct{ *modelClient }

func (listless) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("the API server is busy")
}

// Whether there is a record of a submission that is gone is not known while the list fails, so nothing is said about a
// decision that may mean it.
func TestADecisionIsNotJudgedOnAListThatFailed(t *testing.T) {
	w := newWorld(scenario{processes: 1}.ready())
	delete(w.objects, "submission/k1")
	w.put(&v1alpha1.TaskDecision{
		ObjectMeta: metav1.ObjectMeta{Name: "it-is-there"},
		Spec:       v1alpha1.TaskDecisionSpec{Submission: "k1", UID: "of-a-record", Attempt: 1, Action: v1alpha1.DecisionConfirmApplied, Reason: "seen"},
		Status:     v1alpha1.TaskDecisionStatus{State: v1alpha1.DecisionPending},
	})
	w.refresh() // the operator's cache shows both
	operator := w.processes[0].submissions
	operator.Records.Client = listless{&modelClient{world: w, process: w.processes[0], live: true}}
	request := ctrl.Request{NamespacedName: w.names()[0]}

	if _, err := operator.Reconcile(t.Context(), request); err == nil {
		t.Error("a list that failed ended the pass as if it had been answered; want an error, so that it is tried again")
	}
	if state := w.objects["decision/it-is-there"].object.(*v1alpha1.TaskDecision).Status.State; state != v1alpha1.DecisionPending {
		t.Errorf("the decision is %s after a list that failed; want Pending: nobody knows yet what it means", state)
	}
	operator.Records.Client = &modelClient{world: w, process: w.processes[0], live: true}
	if _, err := operator.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if state := w.objects["decision/it-is-there"].object.(*v1alpha1.TaskDecision).Status.State; state != v1alpha1.DecisionRefused {
		t.Errorf("the decision is %s; want Refused: there is no record", state)
	}
}

// Of one second nobody knows which decision was first, so the order is one on which every process agrees, and what
// permits no other effect comes first, whatever the names are.
func TestTheDecisionsOfOneSecondAreJudgedCarefully(t *testing.T) {
	w := newWorld(scenario{processes: 1}.ready())
	decide := func(name string, action v1alpha1.DecisionAction) {
		w.put(&v1alpha1.TaskDecision{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       v1alpha1.TaskDecisionSpec{Submission: "k1", UID: "x", Action: action, Reason: "seen"},
		})
	}
	decide("a", v1alpha1.DecisionRetry)
	decide("b", v1alpha1.DecisionConfirmNotApplied)
	decide("d", v1alpha1.DecisionConfirmApplied)
	decide("c", v1alpha1.DecisionConfirmApplied)
	decide("z", v1alpha1.DecisionCancel)
	w.refresh()
	found, err := w.processes[0].submissions.decisionsFor(t.Context(), w.names()[0])
	if err != nil {
		t.Fatal(err)
	}
	var order string
	for i := range found {
		order += found[i].Name
	}
	if order != "zcdba" {
		t.Errorf("they are judged in the order %s; want zcdba", order)
	}
}
