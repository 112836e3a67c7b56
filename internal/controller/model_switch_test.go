package controller

import (
	"slices"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// faults are rules that are switched off, outside of the code that has them: in what Decide is shown or says, in the
// client, and in the table of flights.
type faults struct {
	off    lifecycle.Off
	decide func(lifecycle.Observation) lifecycle.Step

	noCompareAndSwap  bool // an update of a record does not compare versions
	noPreconditions   bool // a delete does not
	trustsLostWrites  bool // a write that failed counts as done
	sendsBeforeRecord bool // an attempt goes out before it is stored
	sendsLate         bool // the clock is not compared right before sending
	asksTheCache      bool // whether a submission exists is read from the cache
	dropsDue          bool // records carry no due time
	givesUp           bool // a record that is refused is not stored without its result
}

var (
	offSettleAfter = lifecycle.Off{SettleAfter: true}
	offOrphanWait  = lifecycle.Off{OrphanWait: true}
)

// recorded returns the observation with a copy of its record's action that may be changed.
func recorded(o lifecycle.Observation) (lifecycle.Observation, *v1alpha1.Action) {
	if o.Record.Object == nil {
		return o, &v1alpha1.Action{}
	}
	o.Record.Object = o.Record.Object.DeepCopy()
	return o, o.Record.Object.Spec.Action
}

func refusalSettles(o lifecycle.Observation) lifecycle.Step {
	if o.Flight.State == lifecycle.FlightFinished && o.Flight.Report.Outcome == v1alpha1.OutcomeNotApplied {
		var action *v1alpha1.Action
		o, action = recorded(o)
		action.Unsettled = false
	}
	return lifecycle.Decide(o)
}

// isMine reports whether the record is open by this process, whose begin was not acknowledged.
func isMine(o lifecycle.Observation) bool {
	return o.Flight.State == lifecycle.FlightUnacknowledged && o.Record.Object != nil && o.Record.Object.Spec.Action.Attempt.Executor == o.Executor
}

func mineSoRunIt(o lifecycle.Observation) lifecycle.Step {
	if isMine(o) {
		o.Flight.State = lifecycle.FlightGranted
	}
	return lifecycle.Decide(o)
}

func mineSoWait(o lifecycle.Observation) lifecycle.Step {
	if isMine(o) {
		return lifecycle.Wait{}
	}
	return lifecycle.Decide(o)
}

func unknownFails(o lifecycle.Observation) lifecycle.Step {
	step := lifecycle.Decide(o)
	if store, ok := step.(lifecycle.Store); ok && store.Action.Reason == v1alpha1.ReasonOutcomeUnknown {
		store.Action.Phase, store.Action.Reason = v1alpha1.PhaseFailed, v1alpha1.ReasonRetriesExhausted
		return store
	}
	return step
}

func absenceIsAGround(o lifecycle.Observation) lifecycle.Step {
	claim := o.Claim.Object
	if o.Flight.State == lifecycle.FlightGranted && claim != nil && claim.Spec.Holder.Record != o.Record.Object.Name && o.Claim.Holder == nil {
		return lifecycle.TakeClaim{}
	}
	return lifecycle.Decide(o)
}

func effectBeforeClaim(o lifecycle.Observation) lifecycle.Step {
	step := lifecycle.Decide(o)
	if _, claims := step.(lifecycle.CreateClaim); claims {
		return lifecycle.Launch{}
	}
	return step
}

func oldClaimCounts(o lifecycle.Observation) lifecycle.Step {
	if o.Claim.Object != nil && o.Claim.Object.Spec.Holder.Record == o.Record.Object.Name {
		o.Claim.Object = o.Claim.Object.DeepCopy()
		o.Claim.Object.Spec.Holder.Retries = o.Record.Object.Spec.Action.Retries
	}
	return lifecycle.Decide(o)
}

func failedLetsGo(o lifecycle.Observation) lifecycle.Step {
	step := lifecycle.Decide(o)
	r := o.Record.Object
	if _, done := step.(lifecycle.Wait); !done || r == nil || r.Spec.Action.Phase != v1alpha1.PhaseFailed {
		return step
	}
	switch {
	case !o.Claim.Read:
		return lifecycle.ReadClaim{}
	case o.Claim.Object != nil && o.Claim.Object.Spec.Holder.Record == r.Name:
		return lifecycle.Release{}
	}
	return step
}

func verdictInStatus(o lifecycle.Observation) lifecycle.Step {
	step := lifecycle.Decide(o)
	if store, ok := step.(lifecycle.Store); ok && o.Record.Object == nil && store.Action.Phase == v1alpha1.PhaseFailed {
		return lifecycle.Wait{}
	}
	return step
}

func gateFirst(o lifecycle.Observation) lifecycle.Step {
	if o.Submission != nil && !o.Record.Read && o.Template.State != lifecycle.TemplateReady {
		return lifecycle.Wait{}
	}
	return lifecycle.Decide(o)
}

func replayDoesNotRenew(o lifecycle.Observation) lifecycle.Step {
	step := lifecycle.Decide(o)
	if _, stores := step.(lifecycle.Store); stores && o.Record.Object != nil && o.Record.Object.Spec.Action.Phase.Terminal() {
		return lifecycle.Wait{}
	}
	return step
}

func digestIgnored(o lifecycle.Observation) lifecycle.Step {
	if o.Record.Object != nil && o.Record.Object.Spec.Action.Unsettled {
		o.Template.Digest = o.Record.Object.Spec.Action.EffectDigest
	}
	return lifecycle.Decide(o)
}

// decisions returns the observation with copies of its decisions, changed.
func decisions(o lifecycle.Observation, change func(*v1alpha1.TaskDecisionSpec)) lifecycle.Observation {
	o.Decisions = slices.Clone(o.Decisions)
	for i := range o.Decisions {
		change(&o.Decisions[i].Spec)
	}
	return o
}

func approvalOfAnything(o lifecycle.Observation) lifecycle.Step {
	return lifecycle.Decide(decisions(o, func(spec *v1alpha1.TaskDecisionSpec) { spec.TemplateDigest = o.Template.Digest }))
}

func wordIsBelieved(o lifecycle.Observation) lifecycle.Step {
	o.Template.Forbids = false
	return lifecycle.Decide(o)
}

func oldDecisionCounts(o lifecycle.Observation) lifecycle.Step {
	return lifecycle.Decide(decisions(o, func(spec *v1alpha1.TaskDecisionSpec) {
		if o.Record.Object != nil {
			spec.Attempt = o.Record.Object.Spec.Action.Attempt.Number
		}
	}))
}

func lateSuccessDropped(o lifecycle.Observation) lifecycle.Step {
	late := o.Record.Object != nil && o.Record.Object.Spec.Action.Attempt.Number != o.Flight.Attempt
	if late && o.Flight.State == lifecycle.FlightFinished && !o.Flight.Kind.Checks() {
		return lifecycle.Abandon{}
	}
	return lifecycle.Decide(o)
}

func rememberedForEver(o lifecycle.Observation) lifecycle.Step {
	o.Template.RemembersFor = 1000 * time.Hour
	return lifecycle.Decide(o)
}

func statusIgnored(o lifecycle.Observation) lifecycle.Step {
	if o.Submission != nil && o.Record.Read && o.Record.Object == nil {
		o = asked(o, func(s *v1alpha1.TaskSubmission) {
			s.Status = v1alpha1.TaskSubmissionStatus{Phase: v1alpha1.PhasePending}
		})
	}
	return lifecycle.Decide(o)
}

func retryApproves(o lifecycle.Observation) lifecycle.Step {
	o, action := recorded(o)
	action.Unapproved = false
	if action.Retries > 0 {
		action.ApprovedDigest = o.Template.Digest
	}
	return lifecycle.Decide(o)
}

// asked returns the observation with a copy of its submission, changed.
func asked(o lifecycle.Observation, change func(*v1alpha1.TaskSubmission)) lifecycle.Observation {
	if o.Submission != nil {
		o.Submission = o.Submission.DeepCopy()
		change(o.Submission)
	}
	return o
}

func notBeforeIgnored(o lifecycle.Observation) lifecycle.Step {
	return lifecycle.Decide(asked(o, func(s *v1alpha1.TaskSubmission) { s.Spec.NotBefore = nil }))
}

func notAfterIgnored(o lifecycle.Observation) lifecycle.Step {
	return lifecycle.Decide(asked(o, func(s *v1alpha1.TaskSubmission) { s.Spec.NotAfter = nil }))
}

// heldHasBegun takes what only waits for its business key for begun.
func heldHasBegun(o lifecycle.Observation) lifecycle.Step {
	if o.Record.Object != nil && o.Record.Object.Spec.Action.Reason == v1alpha1.ReasonBusinessKeyHeld {
		return notAfterIgnored(o)
	}
	return lifecycle.Decide(o)
}

func suspensionIgnored(o lifecycle.Observation) lifecycle.Step {
	if o.Template.Spec != nil {
		o.Template.Spec = o.Template.Spec.DeepCopy()
		o.Template.Spec.Suspend = false
	}
	return lifecycle.Decide(o)
}

func suspensionStops(o lifecycle.Observation) lifecycle.Step {
	step := lifecycle.Decide(o)
	if _, begins := step.(lifecycle.Begin); begins && o.Template.Spec != nil && o.Template.Spec.Suspend {
		return lifecycle.Wait{}
	}
	return step
}

func restoredIsBelieved(o lifecycle.Observation) lifecycle.Step {
	o, action := recorded(o)
	if o.Record.Object != nil {
		action.UID = o.Record.Object.UID
	}
	return lifecycle.Decide(o)
}

// firstWasNotSent takes a restored record of a first attempt for one that its own begin created.
func firstWasNotSent(o lifecycle.Observation) lifecycle.Step {
	o, action := recorded(o)
	if o.Record.Object != nil && action.Attempt.StartedAt != nil {
		o.Record.Object.CreationTimestamp.Time = action.Attempt.StartedAt.Time
	}
	return lifecycle.Decide(o)
}

func deletionIgnored(o lifecycle.Observation) lifecycle.Step {
	return lifecycle.Decide(asked(o, func(s *v1alpha1.TaskSubmission) { s.DeletionTimestamp = nil }))
}

func differenceUntold(o lifecycle.Observation) lifecycle.Step {
	if o.Claim.Holder != nil {
		o.Claim.Holder = o.Claim.Holder.DeepCopy()
		o.Claim.Holder.Spec.Action.PayloadDigest = o.Record.Object.Spec.Action.PayloadDigest
	}
	return lifecycle.Decide(o)
}

func statusDecides(o lifecycle.Observation) lifecycle.Step {
	if o.Submission != nil && !o.Submission.Status.Phase.Terminal() && o.Flight.State == lifecycle.FlightNone {
		var action *v1alpha1.Action
		o, action = recorded(o)
		if action.Phase == v1alpha1.PhaseSuccess {
			action.Phase, action.Reason = v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying
		}
	}
	return lifecycle.Decide(o)
}

func doubtExpires(o lifecycle.Observation) lifecycle.Step {
	if o.Submission == nil && o.Record.Object != nil && o.Record.Object.Spec.Action.Unsettled && o.Flight.State == lifecycle.FlightNone {
		return lifecycle.Expire{}
	}
	return lifecycle.Decide(o)
}
