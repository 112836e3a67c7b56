package cli

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// subject is one action as the API server knows it.
type subject struct {
	name       types.NamespacedName
	submission *v1alpha1.TaskSubmission // nil: gone
	record     *v1alpha1.TaskRecord     // nil: none, or none of this action
	template   *v1alpha1.TaskTemplate   // nil: none
	holder     holder
}

// action is the journal, or nil.
func (s *subject) action() *v1alpha1.Action {
	if s.record == nil {
		return nil
	}
	return s.record.Spec.Action
}

// uid is what a decision names: the record where there is one, and otherwise the submission.
func (s *subject) uid() types.UID {
	if s.record != nil {
		return s.record.UID
	}
	return s.submission.UID
}

// attempt is what a decision judges.
func (s *subject) attempt() int32 {
	if action := s.action(); action != nil {
		return action.Attempt.Number
	}
	return s.submission.Status.Attempts
}

// templateName is that of the action's template.
func (s *subject) templateName() string {
	if s.submission != nil {
		return s.submission.Spec.TemplateRef.Name
	}
	return s.record.Spec.Template
}

// reason is what the status says or, where the submission is gone, the record.
func (s *subject) reason() v1alpha1.Reason {
	if s.submission != nil {
		return s.submission.Status.Reason
	}
	return s.action().Reason
}

// standing is phase and reason.
func (s *subject) standing() string {
	if s.submission != nil {
		return standing(s.submission)
	}
	return string(s.action().Phase) + "/" + string(s.action().Reason)
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
	s := &subject{name: name, record: record}
	return s, errors.Join(c.addTemplate(ctx, s), c.addHolder(ctx, s))
}

// complete adds record and template to a submission.
func (c *cluster) complete(ctx context.Context, submission *v1alpha1.TaskSubmission) (*subject, error) {
	s := &subject{name: client.ObjectKeyFromObject(submission), submission: submission}
	record := &v1alpha1.TaskRecord{}
	err := c.api.Get(ctx, types.NamespacedName{Namespace: s.name.Namespace, Name: v1alpha1.RecordName(submission.Key())}, record)
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	if err == nil && isOf(record, submission) {
		s.record = record
	}
	return s, errors.Join(c.addTemplate(ctx, s), c.addHolder(ctx, s))
}

// isOf reports whether a record is that of the submission, and not of another action under its key.
func isOf(record *v1alpha1.TaskRecord, submission *v1alpha1.TaskSubmission) bool {
	digest, err := v1alpha1.PayloadDigest(&submission.Spec)
	return err == nil && record.Spec.Action != nil && record.Spec.Key == submission.Key() && record.Spec.Action.PayloadDigest == digest
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

// addTemplate adds the template as it was read first: many submissions share one.
func (c *cluster) addTemplate(ctx context.Context, s *subject) (err error) {
	name := types.NamespacedName{Namespace: s.name.Namespace, Name: s.templateName()}
	read, _ := c.templates.LoadOrStore(name, sync.OnceValues(func() (*v1alpha1.TaskTemplate, error) {
		template := &v1alpha1.TaskTemplate{}
		if err := c.api.Get(ctx, name, template); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		return template, nil
	}))
	s.template, err = read.(func() (*v1alpha1.TaskTemplate, error))()
	return err
}

// effectDigest is what an approval pins; empty where the operator has not looked at the template as it is.
func (s *subject) effectDigest() string {
	if s.template == nil || s.template.Status.ObservedGeneration != s.template.Generation {
		return ""
	}
	return s.template.Status.EffectDigest
}

// awaitsApproval reports whether an Approve is asked for: before it begins, or again after the effect was edited.
func (s *subject) awaitsApproval() bool {
	if s.reason() == v1alpha1.ReasonAwaitingApproval {
		return true
	}
	action, digest := s.action(), s.effectDigest()
	asked := s.template != nil && s.template.Spec.Approval != nil && s.template.Spec.Approval.Required
	return asked && digest != "" && action != nil && !action.Phase.Terminal() && !action.Unsettled && !action.Attempt.Open() &&
		action.EffectDigest != digest && action.ApprovedDigest != digest
}

// neverApproved reports whether what was begun, or reopened, has no approval at all.
func (s *subject) neverApproved() bool { return s.action() != nil && s.action().ApprovedDigest == "" }

// inDoubt reports whether it may have had its effect, or is about to.
func (s *subject) inDoubt() bool {
	action := s.action()
	return action != nil && !action.Phase.Terminal() && (action.Unsettled || action.Attempt.Open())
}

func (s *subject) phase() v1alpha1.Phase {
	if action := s.action(); action != nil {
		return action.Phase
	}
	if s.submission != nil {
		return s.submission.Status.Phase
	}
	return ""
}
