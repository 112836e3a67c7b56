package lifecycle

import (
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// A person who says that an attempt had no effect speaks of what the receiver shows. An attempt that is still on its way
// there may have its effect afterwards. Where the effect can see to it that it has none, that comes first, and the
// receiver's word goes before the person's.

// judgeNotApplied takes a person's word, after the receiver was made to refuse what may still be under way. It returns
// nil while that is tried later, or something else runs first.
func (o *Observation) judgeNotApplied(action *v1alpha1.Action, decision *v1alpha1.TaskDecision) Step {
	switch {
	case !o.canForbid(action):
		return Store{Action: confirmedNotApplied(o, action, decision)}
	case o.Flight.State == FlightRunning && o.Flight.Kind == Prohibition:
		return Wait{} // it is first, so what was decided later waits for what the receiver says
	case o.untilTried(decision) > 0:
		return nil
	case o.Flight.State == FlightFull:
		return o.waitForSlot()
	case o.Flight.State != FlightNone:
		return nil
	default:
		return Check{Kind: Prohibition}
	}
}

// canForbid reports whether the effect that the attempts were made under is at hand, and can keep them from being applied.
func (o *Observation) canForbid(action *v1alpha1.Action) bool {
	return o.Template.State == TemplateReady && o.Template.Forbids && o.Template.Digest == action.EffectDigest
}

// decideForbidden goes on from a receiver that was to refuse the attempt, and did not say that it was applied.
func decideForbidden(o *Observation, action *v1alpha1.Action) Step {
	decision := o.notApplied(action)
	report := &o.Flight.Report
	switch {
	case decision == nil, !o.reportsCurrent(action):
		return Abandon{} // the decision was withdrawn, or is about what is over
	case report.Outcome == v1alpha1.OutcomeNotApplied:
		return Store{Action: confirmedNotApplied(o, action, decision)}
	default:
		return Adjourn{
			Decision: decision, At: o.Now.Add(HeldInterval),
			Message: cut("confirmed as not applied, but the receiver may still apply it, and cannot be kept from it yet, which is tried every "+
				HeldInterval.String()+": "+report.Message, maxMessage),
		}
	}
}

// notApplied returns the oldest pending decision that the current attempt had no effect, or nil.
func (o *Observation) notApplied(action *v1alpha1.Action) *v1alpha1.TaskDecision {
	for i := range o.Decisions {
		decision := &o.Decisions[i]
		if decision.Spec.Action == v1alpha1.DecisionConfirmNotApplied && o.names(decision) && decision.Spec.Attempt == action.Attempt.Number {
			return decision
		}
	}
	return nil
}

// adjourned returns the decision that was tried and waits for its next try, or nil.
func (o *Observation) adjourned() *v1alpha1.TaskDecision {
	for i := range o.Decisions {
		if o.Decisions[i].Status.NextAt != nil {
			return &o.Decisions[i]
		}
	}
	return nil
}

// untilTried returns how long a decision waits for its next try.
func (o *Observation) untilTried(decision *v1alpha1.TaskDecision) time.Duration {
	if decision.Status.NextAt == nil {
		return 0
	}
	return decision.Status.NextAt.Sub(o.Now)
}

// orUntilTried is a wait that ends no later than a decision is tried again.
func (o *Observation) orUntilTried(wait Wait) Wait {
	for i := range o.Decisions {
		if left := o.untilTried(&o.Decisions[i]); left > 0 && (wait.In == 0 || left < wait.In) {
			wait.In = left
		}
	}
	return wait
}
