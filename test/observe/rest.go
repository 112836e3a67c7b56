package main

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// rest waits until nothing goes on by itself any more, and until the operator's own caches know it: what is submitted
// after that meets what the client sees.
func (w *world) rest(ctx context.Context) error {
	return until(ctx, "everything to come to rest", func(ctx context.Context) (bool, error) {
		submissions, err := w.submissions(ctx)
		if err != nil {
			return false, err
		}
		standing := expectation{}
		for i := range submissions {
			status := &submissions[i].Status
			if !atRest(&submissions[i]) {
				return false, nil
			}
			if !status.Phase.Terminal() {
				standing.add(1, "template", submissions[i].Spec.TemplateRef.Name, "phase", string(status.Phase), "reason", string(status.Reason))
			}
		}
		shown, err := w.prometheus.instant(ctx, "taskonce_submissions", w.prometheus.now())
		if err != nil {
			return false, err
		}
		return len(standing.differences("", shown.by("template", "phase", "reason"))) == 0, nil
	})
}

// atRest says of a submission that it stays as it is, as far as the load goes.
func atRest(s *v1alpha1.TaskSubmission) bool {
	switch s.Status.Reason {
	case v1alpha1.ReasonAwaitingApproval, v1alpha1.ReasonOutcomeUnknown:
		return true
	case v1alpha1.ReasonLimitReached, v1alpha1.ReasonExecuting:
		return s.Spec.TemplateRef.Name == "hold"
	}
	return s.Status.Phase.Terminal()
}

// submissions returns all of them as they are.
func (w *world) submissions(ctx context.Context) ([]v1alpha1.TaskSubmission, error) {
	list := &v1alpha1.TaskSubmissionList{}
	err := w.api.List(ctx, list, client.InNamespace(w.namespace))
	return list.Items, err
}
