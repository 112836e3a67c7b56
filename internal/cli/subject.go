package cli

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
)

// subject is one action as the API server knows it, and as it is told.
type subject struct{ inbox.Subject }

// uid is what a decision names: the record where there is one, and otherwise the submission.
func (s *subject) uid() types.UID {
	if s.Record != nil {
		return s.Record.UID
	}
	return s.Submission.UID
}

// attempt is what a decision judges.
func (s *subject) attempt() int32 {
	if action := s.Action(); action != nil {
		return action.Attempt.Number
	}
	return s.Submission.Status.Attempts
}

// standing is phase and reason.
func (s *subject) standing() string {
	if s.Submission != nil {
		return standing(s.Submission)
	}
	return string(s.Action().Phase) + "/" + string(s.Action().Reason)
}

// load reads an action by its submission's name. What it does not find at all is a NotFound.
func (c *cluster) load(ctx context.Context, name types.NamespacedName) (*subject, error) {
	submission := &v1alpha1.TaskSubmission{}
	missing := c.api.Get(ctx, name, submission)
	switch {
	case missing == nil:
		return c.complete(ctx, submission)
	case client.IgnoreNotFound(missing) != nil:
		return nil, missing
	}
	record, err := c.recordOf(ctx, name)
	if err != nil {
		return nil, err
	}
	if record == nil {
		return nil, missing
	}
	s, err := c.reader.Abandoned(ctx, name, record)
	return &subject{s}, err
}

// complete adds record and template to a submission.
func (c *cluster) complete(ctx context.Context, submission *v1alpha1.TaskSubmission) (*subject, error) {
	s, err := c.reader.Complete(ctx, submission)
	return &subject{s}, err
}

// recordOf finds the record of a submission that is gone.
func (c *cluster) recordOf(ctx context.Context, name types.NamespacedName) (*v1alpha1.TaskRecord, error) {
	list := &v1alpha1.TaskRecordList{}
	if err := c.api.List(ctx, list, client.InNamespace(name.Namespace), client.MatchingLabels{v1alpha1.LabelSubmission: name.Name}); err != nil {
		return nil, err
	}
	for i := range list.Items {
		if action := list.Items[i].Spec.Action; action != nil && action.Submission.Name == name.Name {
			return &list.Items[i], nil
		}
	}
	return nil, nil
}

// inDoubt reports whether it may have had its effect, or is about to.
func (s *subject) inDoubt() bool {
	action := s.Action()
	return action != nil && !action.Phase.Terminal() && (action.Unsettled || action.Attempt.Open())
}

func (s *subject) phase() v1alpha1.Phase {
	if action := s.Action(); action != nil {
		return action.Phase
	}
	if s.Submission != nil {
		return s.Submission.Status.Phase
	}
	return ""
}
