package lifecycle

import (
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Project returns the status of the submission: a projection of the record and of what is awaited. The same
// observation gives the same status, so that nothing is written without a change.
func Project(o Observation) v1alpha1.TaskSubmissionStatus {
	status := v1alpha1.TaskSubmissionStatus{
		Phase: v1alpha1.PhasePending, Reason: v1alpha1.ReasonAccepted, Message: "it is about to begin",
		BusinessKey: o.BusinessKey,
	}
	old := &o.Submission.Status
	if o.Record.Object != nil && o.ofAnotherKey() {
		o.Record = Record{}
	}
	switch {
	case o.Record.Object != nil && o.PayloadDigest != o.action().PayloadDigest:
		status.Phase, status.Reason = v1alpha1.PhaseFailed, v1alpha1.ReasonKeyReused
		status.Message = "the idempotency key belongs to another action, with another template or other parameters: submit this one under a key of its own"
		status.RecordName = o.Record.Object.Name
	case o.Record.Object != nil:
		projectRecord(&o, &status)
	case old.Phase.Terminal():
		return *old.DeepCopy()
	default:
		if f := gate(&o); f != nil {
			status.Phase, status.Reason, status.Message = f.phase, f.reason, f.message
		} else if o.Flight.State == FlightFull {
			status.Reason, status.Message = v1alpha1.ReasonLimitReached, limitMessage
		}
	}
	projectRefusal(&o, &status)
	if status.Phase.Terminal() && status.CompletedAt == nil {
		status.CompletedAt = stamped(old.CompletedAt, o.Now)
	}
	status.Message = cut(status.Message, maxMessage)
	status.ObservedGeneration = o.Submission.Generation
	status.Conditions = conditions(&o, &status)
	return status
}

const limitMessage = "the template's limits allow no further attempt at the moment"

// projectRefusal says that the API server keeps an action from going on (I9).
func projectRefusal(o *Observation, status *v1alpha1.TaskSubmissionStatus) {
	if o.Refused == "" || status.Phase.Terminal() {
		return
	}
	if status.Phase == v1alpha1.PhasePending {
		status.Reason = v1alpha1.ReasonDependencyMissing
	}
	status.Message = "its record cannot be stored, and it is tried again until it can: lift the quota, the policy, the webhook or the missing right that refuses it; the API server said: " + o.Refused
}

func projectRecord(o *Observation, status *v1alpha1.TaskSubmissionStatus) {
	action := o.action()
	status.Phase, status.Reason, status.Message = action.Phase, action.Reason, action.Message
	status.Attempts = action.Attempt.Number
	status.Result, status.ResultDigest = copied(action.Result), action.ResultDigest
	status.DuplicateOf = action.DuplicateOf
	status.Replayed = action.Submission.UID != o.Submission.UID
	status.OutcomeOnBehalfOf = outcomeOnBehalfOf(action, status.Replayed)
	status.RecordName = o.Record.Object.Name
	status.StartedAt, status.CompletedAt, status.ExpiresAt = action.StartedAt, action.CompletedAt, action.ExpiresAt
	if action.BusinessKey != "" {
		status.BusinessKey = action.BusinessKey
	}
	if !action.Phase.Terminal() {
		status.ExpiresAt = nil
		projectWaiting(o, action, status)
	}
}

// outcomeOnBehalfOf is on whose behalf another submission was, where it is that one's outcome: the first one for the business key,
// or an earlier one of the key.
func outcomeOnBehalfOf(action *v1alpha1.Action, replayed bool) string {
	switch {
	case action.DuplicateOf != "":
		return action.OutcomeOnBehalfOf
	case replayed:
		return action.OnBehalfOf
	default:
		return ""
	}
}

// projectWaiting says what an action that has not ended waits for, where the record alone does not say it.
func projectWaiting(o *Observation, action *v1alpha1.Action, status *v1alpha1.TaskSubmissionStatus) {
	neverSent := action.Reason == v1alpha1.ReasonBusinessKeyHeld || action.Reason == v1alpha1.ReasonDependencyMissing
	switch {
	case neverSent && action.Tries == 0:
		status.Phase = v1alpha1.PhasePending
	case neverSent:
		status.Reason = v1alpha1.ReasonRetrying
	case action.Unsettled && o.Template.State != TemplateReady:
		status.Reason = v1alpha1.ReasonOutcomeUnknown
		status.Message = "an attempt may have been applied, and its template cannot be used to find out: " + o.Template.Message
	case action.Attempt.Open() && o.Flight.State == FlightNone:
		status.Message = "an operator process that may be gone carries it out; its time-out is waited for before anything else is done"
	}
	if decision := o.adjourned(); decision != nil {
		status.Message = decision.Status.Message
	}
	if !action.Unsettled && !action.Attempt.Open() {
		status.Message = orElse(o.keptBackBy(action), status.Message)
	}
}

// keptBackBy says what the next attempt waits for beside its time, or nothing.
func (o *Observation) keptBackBy(action *v1alpha1.Action) string {
	f := regate(o, action)
	switch {
	case f != nil && f.phase == v1alpha1.PhasePending:
		return f.message
	case o.Flight.State == FlightFull:
		return limitMessage
	case action.Reason == v1alpha1.ReasonBusinessKeyHeld:
		return o.wayOut()
	case o.Template.Pause != nil:
		return o.Template.Pause.says()
	}
	return ""
}

// wayOut names the decision that gives a business key free whose holder is left alone.
func (o *Observation) wayOut() string {
	holder := o.Claim.Holder
	if holder == nil || !holder.Spec.Action.LeftAlone() {
		return ""
	}
	action := holder.Spec.Action
	name := action.Submission.Name
	return fmt.Sprintf("the business key is held by the record of the submission %q, which was deleted before it came to an end: "+
		"apply that again, or free the key with kubectl taskonce cancel %s -n %s, "+
		"which makes a TaskDecision with action Cancel, submission %s, uid %s and attempt %d",
		name, name, holder.Namespace, name, holder.UID, action.Attempt.Number)
}

// stamped keeps a time that was written before, so that a status does not change by itself.
func stamped(old *metav1.Time, now time.Time) *metav1.Time {
	if old != nil {
		return old
	}
	return second(now)
}

func copied(result *apiextensionsv1.JSON) *apiextensionsv1.JSON {
	if result == nil {
		return nil
	}
	return result.DeepCopy()
}
