package controller

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// careful orders the decisions of one second, since their creation tells no more: what permits no other effect comes first.
var careful = []v1alpha1.DecisionAction{
	v1alpha1.DecisionCancel, v1alpha1.DecisionConfirmApplied, v1alpha1.DecisionConfirmNotApplied,
	v1alpha1.DecisionApprove, v1alpha1.DecisionRetry, v1alpha1.DecisionRelease,
}

// decisionsFor returns the pending decisions about a submission, oldest first, in an order on which all processes agree.
func (r *Submissions) decisionsFor(ctx context.Context, action types.NamespacedName) ([]v1alpha1.TaskDecision, error) {
	list := &v1alpha1.TaskDecisionList{}
	err := r.Client.List(ctx, list, client.InNamespace(action.Namespace), client.MatchingFields{indexSubmission: action.Name})
	if err != nil {
		return nil, err
	}
	pending := slices.DeleteFunc(list.Items, func(decision v1alpha1.TaskDecision) bool {
		return decision.Status.State != v1alpha1.DecisionPending && decision.Status.State != ""
	})
	slices.SortFunc(pending, func(a, b v1alpha1.TaskDecision) int {
		return cmp.Or(
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			slices.Index(careful, a.Spec.Action)-slices.Index(careful, b.Spec.Action),
			strings.Compare(a.Name, b.Name),
		)
	})
	return pending, nil
}

// findRecord finds the record of an action whose submission is gone.
func (r *Submissions) findRecord(ctx context.Context, subject *subject) error {
	record, err := r.recordLeft(ctx, subject.action)
	if err != nil {
		return err
	}
	subject.record = r.recordRead(subject, record)
	return nil
}

// recordLeft returns the record of an action whose submission is gone, or nil.
func (r *Submissions) recordLeft(ctx context.Context, action types.NamespacedName) (*v1alpha1.TaskRecord, error) {
	if len(content.IsLabelValue(action.Name)) > 0 {
		return nil, nil // a decision can name anything; no submission has such a name
	}
	records, err := r.Records.OfSubmission(ctx, action.Namespace, action.Name)
	for i := range records {
		if records[i].Spec.Action != nil {
			return &records[i], err
		}
	}
	return nil, err
}

// judge writes what came of a decision. One that was carried out can be seen in the status first: the cache does not
// hold what a Retry opens again, so until then only the pending decision has somebody look at it (I9).
func (r *Submissions) judge(ctx context.Context, subject *subject, step lifecycle.Judge) error {
	if step.State == v1alpha1.DecisionApplied && subject.submission != nil {
		if err := r.writeStatus(ctx, subject, lifecycle.Project(r.observation(subject))); err != nil {
			return err
		}
	}
	written, err := r.writeDecision(ctx, subject, step.Decision, v1alpha1.TaskDecisionStatus{State: step.State, Message: step.Message})
	if written {
		r.tellJudged(subject, step)
	}
	return err
}

// adjourn writes why a decision waits. That write is news, which has the next pass wait for the time of the next try.
func (r *Submissions) adjourn(ctx context.Context, subject *subject, step lifecycle.Adjourn) error {
	at := metav1.NewMicroTime(step.At)
	_, err := r.writeDecision(ctx, subject, step.Decision, v1alpha1.TaskDecisionStatus{State: v1alpha1.DecisionPending, Message: step.Message, NextAt: &at})
	return err
}

// writeDecision writes the status of a decision, which is out of the way for the rest of the pass. It reports whether the
// decision was still there.
func (r *Submissions) writeDecision(ctx context.Context, subject *subject, decision *v1alpha1.TaskDecision, status v1alpha1.TaskDecisionStatus) (bool, error) {
	decision = decision.DeepCopy()
	decision.Status = status
	if record := subject.record.Object; record != nil {
		decision.Status.RecordName = record.Name
	}
	err := r.Client.Status().Update(ctx, decision)
	if client.IgnoreNotFound(err) != nil {
		return false, err
	}
	subject.decisions = without(subject.decisions, decision)
	return err == nil, nil
}

func without(decisions []v1alpha1.TaskDecision, judged *v1alpha1.TaskDecision) []v1alpha1.TaskDecision {
	var left []v1alpha1.TaskDecision
	for i := range decisions {
		if decisions[i].UID != judged.UID {
			left = append(left, decisions[i])
		}
	}
	return left
}
