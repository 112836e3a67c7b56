package inbox

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Subject is one action as the API server knows it.
type Subject struct {
	Name       types.NamespacedName
	Submission *v1alpha1.TaskSubmission // nil: gone
	Record     *v1alpha1.TaskRecord     // nil: none, or none of this action
	Hidden     error                    // why whoever asks may not read the record; nil: they may
	Template   *v1alpha1.TaskTemplate   // nil: none
	Holder     Holder
}

// Holder is who holds the business key that an action waits for.
type Holder struct {
	// Submission is its name; empty: not known.
	Submission string
	// Stuck says that it will not end by itself: its record, or its submission, was deleted.
	Stuck bool
}

// Action is the journal, or nil.
func (s *Subject) Action() *v1alpha1.Action {
	if s.Record == nil {
		return nil
	}
	return s.Record.Spec.Action
}

// TemplateName is that of the action's template.
func (s *Subject) TemplateName() string {
	if s.Submission != nil {
		return s.Submission.Spec.TemplateRef.Name
	}
	return s.Record.Spec.Template
}

// Reason is what the status says or, where the submission is gone, the record.
func (s *Subject) Reason() v1alpha1.Reason {
	if s.Submission != nil {
		return s.Submission.Status.Reason
	}
	return s.Action().Reason
}

// EffectDigest is what an approval pins; empty where the operator has not looked at the template as it is.
func (s *Subject) EffectDigest() string {
	if s.Template == nil || s.Template.Status.ObservedGeneration != s.Template.Generation {
		return ""
	}
	return s.Template.Status.EffectDigest
}

// AwaitsApproval reports whether an Approve is asked for: before it begins, or again after the effect was edited.
func (s *Subject) AwaitsApproval() bool {
	if s.Reason() == v1alpha1.ReasonAwaitingApproval {
		return true
	}
	action, digest := s.Action(), s.EffectDigest()
	asked := s.Template != nil && s.Template.Spec.Approval != nil && s.Template.Spec.Approval.Required
	return asked && digest != "" && action != nil && action.BetweenAttempts() &&
		action.EffectDigest != digest && action.ApprovedDigest != digest
}

// Left reports whether its submission was deleted between two attempts: no further one begins unless it is applied again.
func (s *Subject) Left() bool {
	action := s.Action()
	return s.Submission == nil && action != nil && action.BetweenAttempts()
}

// Lacks is what the next attempt of what had no effect so far waits for, beside its time: the reason for which it would wait
// before its first one; nothing: it is tried again by itself.
func (s *Subject) Lacks() v1alpha1.Reason {
	if s.Reason() != v1alpha1.ReasonRetrying || s.Left() {
		return ""
	}
	switch action := s.Action(); {
	case s.Template == nil:
		return v1alpha1.ReasonTemplateNotFound
	case meta.IsStatusConditionFalse(s.Template.Status.Conditions, v1alpha1.ConditionReady):
		return v1alpha1.ReasonTemplateNotReady
	case meta.IsStatusConditionFalse(s.Template.Status.Conditions, v1alpha1.ConditionReceiverHealthy), action != nil && action.Attempt.Missing:
		return v1alpha1.ReasonDependencyMissing
	default:
		return ""
	}
}

// NeverApproved reports whether what was begun, or reopened, has no approval at all.
func (s *Subject) NeverApproved() bool { return s.Action() != nil && s.Action().ApprovedDigest == "" }
