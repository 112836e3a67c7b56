package lifecycle

import (
	"fmt"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// finding is what stands between a submission and its begin.
type finding struct {
	phase   v1alpha1.Phase
	reason  v1alpha1.Reason
	message string
	// verdict says that it is an end which needs a record: status alone could be lost.
	verdict bool
	// at is when to look again; zero: when something changes.
	at time.Time
	// decision is what caused it, where a person did.
	decision *v1alpha1.TaskDecision
}

func pending(reason v1alpha1.Reason, format string, arguments ...any) *finding {
	return &finding{phase: v1alpha1.PhasePending, reason: reason, message: fmt.Sprintf(format, arguments...)}
}

func refused(reason v1alpha1.Reason, message string) *finding {
	return &finding{phase: v1alpha1.PhaseFailed, reason: reason, message: message}
}

// gate returns what stands in the way of beginning, or nil. The order is part of the contract: name, key and
// parameters, what a person decided, the template, the approval, the time, and whether it is being deleted.
func gate(o *Observation) *finding {
	if f := checkName(o.Submission); f != nil {
		return f
	}
	if o.Template.State == TemplateReady && o.Problem != nil {
		return refused(o.Problem.Reason, o.Problem.Message)
	}
	for _, check := range []func(*Observation) *finding{checkNotAfter, checkCancelled, checkTemplate, checkApproval, checkNotBefore, checkDeleted, checkPause} {
		if f := check(o); f != nil {
			return byNotAfter(o, f)
		}
	}
	return nil
}

// regate is the gate for what has begun and certainly had no effect: where anything was sent, neither suspension nor
// notAfter stops it.
func regate(o *Observation, action *v1alpha1.Action) *finding {
	neverSent := action.Tries == 0 && (action.Reason == v1alpha1.ReasonBusinessKeyHeld || action.Reason == v1alpha1.ReasonDependencyMissing)
	if !neverSent {
		return checkGoingOn(o, action, neverSent)
	}
	if f := checkNotAfter(o); f != nil {
		return f
	}
	return byNotAfter(o, checkGoingOn(o, action, neverSent))
}

// byNotAfter has what waits for something looked at again when its time is over.
func byNotAfter(o *Observation, f *finding) *finding {
	if at := o.Submission.Spec.NotAfter; f != nil && at != nil && f.phase == v1alpha1.PhasePending && (f.at.IsZero() || at.Time.Before(f.at)) {
		f.at = at.Time
	}
	return f
}

func checkGoingOn(o *Observation, action *v1alpha1.Action, neverSent bool) *finding {
	switch {
	case o.Submission.DeletionTimestamp != nil:
		return pending(action.Reason, "%s", deletedMessage)
	case o.Template.State != TemplateReady:
		return pending(action.Reason, "the next attempt waits for the template: %s", o.Template.Message)
	case o.Problem != nil:
		return pending(action.Reason, "the next attempt waits: the template changed and refuses the parameters now: %s", o.Problem.Message)
	case o.Template.Digest != action.EffectDigest && o.needsApproval() && !o.approvedSince(action):
		return pending(action.Reason, approvalAsked(action), action.Attempt.Number, o.Template.Digest)
	case action.Attempt.Number > 0 && !neverSent:
		return nil
	case o.Template.Spec.Suspend: // a Retry reopened what had never begun, or it had no effect so far for want of a key or a Secret
		return pending(action.Reason, "the TaskTemplate is suspended: it begins when spec.suspend is false")
	}
	return checkNotBefore(o)
}

// approvalAsked is what is said to whoever approves, of an attempt and a digest.
func approvalAsked(action *v1alpha1.Action) string {
	if action.ApprovedDigest == "" {
		return "the template asks for an approval, and nobody gave one so far; approve attempt %d with templateDigest %s"
	}
	return "the template's effect changed since it was approved; approve attempt %d again with templateDigest %s"
}

func (o *Observation) approvedSince(action *v1alpha1.Action) bool {
	return action.ApprovedDigest == o.Template.Digest
}

// wait waits for what was found.
func (f *finding) wait(o *Observation) Step {
	if f.at.IsZero() {
		return Wait{}
	}
	return o.until(f.at)
}

func checkName(submission *v1alpha1.TaskSubmission) *finding {
	if message := WrongName(submission); message != "" {
		return refused(v1alpha1.ReasonInvalidName, message)
	}
	return nil
}

// WrongName says why a submission's name is not that of its key, or why its key is none, with what to do; "" where it is
// right.
func WrongName(submission *v1alpha1.TaskSubmission) string {
	name, err := v1alpha1.NameForKey(submission.Key())
	switch {
	case err != nil:
		return err.Error()
	case name != submission.Name && submission.Spec.IdempotencyKey == "":
		return fmt.Sprintf(
			"the name %q cannot be its own key: it is not a DNS label of at most %d characters (dots are not allowed), or looks like a derived name; set spec.idempotencyKey to it and metadata.name to %q", submission.Name, v1alpha1.MaxNameLength, name)
	case name != submission.Name:
		return fmt.Sprintf("the name of this key is %q: set metadata.name to it and submit again", name)
	}
	return ""
}

func checkNotAfter(o *Observation) *finding {
	if at := o.Submission.Spec.NotAfter; at != nil && !o.Now.Before(at.Time) {
		f := refused(v1alpha1.ReasonTooLate, "it had not begun by its notAfter")
		f.verdict = true
		return f
	}
	return nil
}

func checkCancelled(o *Observation) *finding {
	for i := range o.Decisions {
		decision := &o.Decisions[i]
		if decision.Spec.Action == v1alpha1.DecisionCancel && decision.Spec.UID == o.Submission.UID && decision.Spec.Attempt == 0 {
			f := refused(v1alpha1.ReasonCancelled, "cancelled before it began: "+decision.Spec.Reason)
			f.verdict, f.decision = true, decision
			return f
		}
	}
	return nil
}

func checkTemplate(o *Observation) *finding {
	name := o.Submission.Spec.TemplateRef.Name
	switch {
	case o.Template.State == TemplateNotFound:
		return pending(v1alpha1.ReasonTemplateNotFound, "there is no TaskTemplate %q in this namespace", name)
	case o.Template.State == TemplateNotReady:
		return pending(v1alpha1.ReasonTemplateNotReady, "the TaskTemplate %q cannot be used: %s", name, o.Template.Message)
	case o.Template.Spec.Suspend:
		return pending(v1alpha1.ReasonTemplateSuspended, "the TaskTemplate %q is suspended: it begins when spec.suspend is false", name)
	}
	return nil
}

func checkNotBefore(o *Observation) *finding {
	if at := o.Submission.Spec.NotBefore; at != nil && o.Now.Before(at.Time) {
		f := pending(v1alpha1.ReasonNotYet, "it begins at its notBefore")
		f.at = at.Time
		return f
	}
	return nil
}

const deletedMessage = "the submission is being deleted: no attempt starts"

func checkDeleted(o *Observation) *finding {
	if o.Submission.DeletionTimestamp != nil {
		return pending(v1alpha1.ReasonAccepted, "%s", deletedMessage)
	}
	return nil
}

// checkPause keeps an attempt back while the receiver refuses the template's credentials.
func checkPause(o *Observation) *finding {
	pause := o.Template.Pause
	if pause == nil || !o.Now.Before(pause.Until) {
		return nil
	}
	f := pending(v1alpha1.ReasonDependencyMissing, "%s", pause.says())
	f.at = pause.Until
	return f
}

func (p *Pause) says() string {
	return "the receiver refuses the template's credentials (" + p.Message +
		"): correct the Secrets that the template names, or the template; one submission at a time finds out whether they are accepted, and then all go on"
}
