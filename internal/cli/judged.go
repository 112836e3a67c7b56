package cli

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// judged waits until the operator has said what came of a decision, or until ctx ends. It returns the decision as it was
// last seen. An error says that nobody will tell.
func (c *cluster) judged(ctx context.Context, decision *v1alpha1.TaskDecision) (*v1alpha1.TaskDecision, error) {
	last := decision
	err := patience.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := c.look(ctx, client.ObjectKeyFromObject(decision), func(now *v1alpha1.TaskDecision) bool {
			last = now
			return isJudged(now)
		})
		if passing(err) {
			err = nil
		}
		return isJudged(last), err
	})
	if ctx.Err() != nil {
		err = nil // it is not judged yet
	}
	return last, err
}

// look tells of a decision as it is and of its changes, until that is enough or the watch ends.
func (c *cluster) look(ctx context.Context, name client.ObjectKey, enough func(*v1alpha1.TaskDecision) bool) error {
	now, err := c.decision(ctx, name)
	if err != nil || enough(now) {
		return err
	}
	changes, err := c.api.Watch(ctx, &v1alpha1.TaskDecisionList{}, &client.ListOptions{
		Namespace: name.Namespace, FieldSelector: fields.OneTermEqualSelector("metadata.name", name.Name),
		Raw: &metav1.ListOptions{ResourceVersion: now.ResourceVersion},
	})
	if err != nil {
		return err
	}
	defer changes.Stop()
	for event := range changes.ResultChan() {
		if seen, ok := event.Object.(*v1alpha1.TaskDecision); ok && enough(seen) {
			return nil
		}
	}
	return nil
}

func (c *cluster) decision(ctx context.Context, name client.ObjectKey) (*v1alpha1.TaskDecision, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	decision := &v1alpha1.TaskDecision{}
	return decision, c.api.Get(ctx, name, decision)
}

func isJudged(decision *v1alpha1.TaskDecision) bool {
	return decision.Status.State != "" && decision.Status.State != v1alpha1.DecisionPending
}
