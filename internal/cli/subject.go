package cli

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// load reads an action by its submission's name; surroundings add to the submission what a command needs beside it. What it
// does not find at all is a NotFound.
func (c *cluster) load(ctx context.Context, name types.NamespacedName, surroundings func(context.Context, *v1alpha1.TaskSubmission) (inbox.Subject, error)) (*subject, error) {
	submission := &v1alpha1.TaskSubmission{}
	missing := c.api.Get(ctx, name, submission)
	switch {
	case missing == nil:
		s, err := surroundings(ctx, submission)
		return &subject{s}, err
	case client.IgnoreNotFound(missing) != nil:
		return nil, missing
	}
	record, err := c.recordOf(ctx, name)
	switch {
	case apierrors.IsForbidden(err):
		return nil, fmt.Errorf("%w; had it been deleted its record would answer, which you may not read: %w", missing, err)
	case err != nil:
		return nil, err
	case record == nil:
		return nil, missing
	}
	s, err := c.reader.Abandoned(ctx, name, record)
	return &subject{s}, err
}

// alone adds nothing.
func alone(_ context.Context, submission *v1alpha1.TaskSubmission) (inbox.Subject, error) {
	return inbox.Subject{Name: client.ObjectKeyFromObject(submission), Submission: submission}, nil
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

// hidden reports whether there is a record that whoever asks may not read.
func (s *subject) hidden() bool {
	return s.Hidden != nil && s.Submission.Status.RecordName != ""
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
