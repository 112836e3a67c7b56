package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// +kubebuilder:rbac:groups=taskonce.dev,resources=taskdecisions,verbs=patch;delete

// judged selects the decisions that somebody may have read the answer to. Those that are pending are the reconciler's.
var judged = fields.OneTermNotEqualSelector("status.state", string(v1alpha1.DecisionPending))

// eachJudged calls visit for every judged decision of a namespace (empty: of all) that is due, or does not say yet when it is.
func (r *Submissions) eachJudged(ctx context.Context, namespace string, visit func(*v1alpha1.TaskDecision)) error {
	page := func() client.ObjectList { return &v1alpha1.TaskDecisionList{} }
	return r.eachDue(ctx, namespace, page, judged, func(object client.Object) { visit(object.(*v1alpha1.TaskDecision)) })
}

// expireDecision removes a judged decision whose record is gone. Any other says from then on which record it goes with,
// and when to look again.
func (r *Submissions) expireDecision(ctx context.Context, decision *v1alpha1.TaskDecision) error {
	if decision.Status.State == "" {
		return nil // a status that somebody emptied: the reconciler takes it for pending
	}
	record, err := r.recordOf(ctx, decision)
	if err != nil {
		return err
	}
	var action *v1alpha1.Action
	label := map[string]string{}
	if record != nil {
		action, label[v1alpha1.LabelRecord] = record.Spec.Action, record.Name
	}
	at, over := lifecycle.RemoveDecision(r.Clock.Now(), decision, action)
	if over {
		return client.IgnoreNotFound(r.deleteAsRead(ctx, decision))
	}
	label[v1alpha1.LabelDue] = lifecycle.LabelAt(at)
	return r.postpone(ctx, decision, label)
}

// recordOf returns the record of what was decided about, or nil. Once a decision says which it is, no list is needed.
func (r *Submissions) recordOf(ctx context.Context, decision *v1alpha1.TaskDecision) (*v1alpha1.TaskRecord, error) {
	action := types.NamespacedName{Namespace: decision.Namespace, Name: decision.Spec.Submission}
	if name := lifecycle.RecordOf(decision); name != "" {
		return r.Records.Named(ctx, decision.Namespace, name)
	}
	submission, err := r.find(ctx, action, true)
	if err != nil {
		return nil, err
	}
	if submission != nil {
		return r.Records.Named(ctx, decision.Namespace, v1alpha1.RecordName(submission.Key()))
	}
	return r.recordLeft(ctx, action)
}
