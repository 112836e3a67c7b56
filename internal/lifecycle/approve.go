package lifecycle

import (
	"github.com/taskonce/taskonce/api/v1alpha1"
)

func (o *Observation) needsApproval() bool {
	return o.Template.Spec != nil && o.Template.Spec.Approval != nil && o.Template.Spec.Approval.Required
}

func checkApproval(o *Observation) *finding {
	if !o.needsApproval() || o.approval(0) != nil {
		return nil
	}
	f := pending(v1alpha1.ReasonAwaitingApproval, "it waits for a TaskDecision with action Approve, uid %s, attempt 0 and templateDigest %s", o.Submission.UID, o.Template.Digest)
	if why := o.unknownPeople(); why != "" {
		f.message += "; " + why
	}
	return f
}

// approval returns the decision that approves the attempt under the template as it is now, or nil.
func (o *Observation) approval(attempt int32) *v1alpha1.TaskDecision {
	for i := range o.Decisions {
		decision := &o.Decisions[i]
		if decision.Spec.Action != v1alpha1.DecisionApprove || decision.Spec.Attempt != attempt || !o.names(decision) {
			continue
		}
		if state, _ := o.judgeApproval(decision); state == v1alpha1.DecisionPending && decision.Spec.TemplateDigest == o.Template.Digest && o.distinct(decision) {
			return decision
		}
	}
	return nil
}

// judgeApproval says whether an approval can be used at all; Pending says that it can, or cannot be told yet.
func (o *Observation) judgeApproval(decision *v1alpha1.TaskDecision) (v1alpha1.DecisionState, string) {
	switch {
	case o.Template.State != TemplateReady:
		return v1alpha1.DecisionPending, ""
	case !o.needsApproval():
		return v1alpha1.DecisionRefused, "the template asks for no approval"
	case decision.Spec.TemplateDigest == "":
		return v1alpha1.DecisionRefused, "it does not say what it approves: set templateDigest to " + o.Template.Digest
	case decision.Spec.TemplateDigest != o.Template.Digest:
		return v1alpha1.DecisionSuperseded, "the template's effect is another one now: approve again with templateDigest " + o.Template.Digest
	case o.wantsDistinct() && o.submittedBy(approver(decision)):
		return v1alpha1.DecisionRefused, "who submitted it cannot approve it"
	case o.wantsDistinct() && o.submittedFor(approver(decision)):
		return v1alpha1.DecisionRefused, "the one on whose behalf it was submitted cannot approve it"
	}
	return v1alpha1.DecisionPending, ""
}

func (o *Observation) wantsDistinct() bool {
	return o.needsApproval() && o.Template.Spec.Approval.DistinctFromSubmitter
}

func approver(decision *v1alpha1.TaskDecision) string {
	return decision.Annotations[v1alpha1.AnnotationDecidedBy]
}

// distinct reports whether it is known that another person than the submitter approves, where that is asked for.
func (o *Observation) distinct(decision *v1alpha1.TaskDecision) bool {
	by := approver(decision)
	return !o.wantsDistinct() || (by != "" && o.submitter() != "" && !o.submittedBy(by) && !o.submittedFor(by))
}

// submittedBy reports whether a person submitted the action: now, or before it was deleted and applied again.
func (o *Observation) submittedBy(person string) bool {
	return person != "" && (person == o.submitter() || o.Record.Object != nil && person == o.action().Submitter)
}

// submittedFor reports whether it was submitted on a person's behalf: now, or before that.
func (o *Observation) submittedFor(person string) bool {
	return person != "" && (person == o.onBehalfOf() || o.Record.Object != nil && person == o.action().OnBehalfOf)
}

func (o *Observation) submitter() string {
	if o.Submission == nil {
		return ""
	}
	return o.Submission.Annotations[v1alpha1.AnnotationSubmittedBy]
}

// onBehalfOf is whom the submitter did it for, by the name that the API server knows them by, or nobody.
func (o *Observation) onBehalfOf() string {
	if o.Submission == nil {
		return ""
	}
	return o.Submission.Annotations[v1alpha1.AnnotationOnBehalfOf]
}

func (o *Observation) unknownPeople() string {
	if !o.wantsDistinct() {
		return ""
	}
	if o.submitter() == "" {
		return "the approver must be another person than the submitter, and the submitter is unknown, since admission did not record it: only a template without distinctFromSubmitter lets it begin"
	}
	if o.onBehalfOf() != "" {
		return "the approver must be another person than the submitter, and than the one on whose behalf that was"
	}
	return "the approver must be another person than the submitter"
}
