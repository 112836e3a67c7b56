package lifecycle

import (
	"fmt"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// decideClaim takes a granted attempt past the business key: the claim comes after the record and before the
// effect, and the absence of anything is never a ground (I7).
func decideClaim(o *Observation, action *v1alpha1.Action) Step {
	switch {
	case !o.Claim.Read && action.Attempt.Number == 1:
		return CreateClaim{} // the straight path: nobody holds it
	case !o.Claim.Read:
		return ReadClaim{}
	case o.Claim.Object == nil:
		return CreateClaim{}
	case o.holdsClaim():
		if o.claimIsOld(action) {
			return TakeClaim{}
		}
		return launch(o, action)
	case o.holderFailed():
		return TakeClaim{}
	case action.Unsettled:
		// An earlier attempt may have applied the effect, so the holder's outcome is not this one's.
		next := neverLaunched(o, action, "another submission holds the business key: it was never sent")
		return Store{Action: asking(o, &next, "another submission holds its business key now")}
	default:
		return Store{Action: yieldTo(o, action)}
	}
}

// decideHeld looks again at a business key that another submission held, before an attempt is begun for it.
// It returns nil where the next attempt can begin.
func decideHeld(o *Observation, action *v1alpha1.Action) Step {
	switch {
	case !o.Claim.Read:
		return ReadClaim{}
	case o.Claim.Object == nil, o.holdsClaim(), o.holderFailed():
		return nil
	case o.holderSucceeded():
		return Store{Action: yieldTo(o, action)}
	default:
		return Wait{In: HeldInterval}
	}
}

// holdsClaim reports whether the claim that was read is this record's.
func (o *Observation) holdsClaim() bool {
	claim := o.Claim.Object
	return claim != nil && claim.Spec.Holder.Record == o.Record.Object.Name
}

// claimIsOld reports whether this record's claim was written before its last Retry, or in an earlier life of it. It is
// written again before the effect: so a take-over that was decided before the Retry meets another resource version.
func (o *Observation) claimIsOld(action *v1alpha1.Action) bool {
	holder := o.Claim.Object.Spec.Holder
	return holder.Retries != action.Retries || holder.UID != o.Record.Object.UID
}

func (o *Observation) holderFailed() bool {
	return o.Claim.Holder != nil && o.Claim.Holder.Spec.Action.Phase == v1alpha1.PhaseFailed
}

func (o *Observation) holderSucceeded() bool {
	return o.Claim.Holder != nil && o.Claim.Holder.Spec.Action.Phase == v1alpha1.PhaseSuccess
}

// yieldTo stores what the holder of the business key means for this action.
func yieldTo(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	if !o.holderSucceeded() {
		return held(o, action)
	}
	holder := o.Claim.Holder.Spec.Action
	next := neverLaunched(o, action, "another submission has applied the effect for this business key: it was never sent")
	if o.conflictPolicy() == v1alpha1.FailConflict {
		return failed(o, &next, v1alpha1.ReasonBusinessKeyConflict, fmt.Sprintf("the submission %q has applied the effect for this business key", holder.Submission.Name))
	}
	message := fmt.Sprintf("the submission %q has applied the effect for this business key; this is its result", holder.Submission.Name)
	if holder.PayloadDigest != action.PayloadDigest {
		message += ", although the parameters differ"
	}
	next.DuplicateOf, next.OutcomeOnBehalfOf = holder.Submission.Name, holder.OnBehalfOf
	return succeeded(o, &next, v1alpha1.ReasonAlreadyApplied, message, holder.Result, holder.ResultDigest)
}

func (o *Observation) conflictPolicy() v1alpha1.BusinessKeyConflictPolicy {
	if o.Template.Spec == nil {
		return v1alpha1.ReturnFirst
	}
	return o.Template.Spec.OnBusinessKeyConflict
}
