package lifecycle

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// What is true of every step and every status, whatever was observed. The tables and the random observations are both
// held to it.

func snapshot(t testing.TB, o Observation) string {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// checkUntouched: judging changes nothing that was observed.
func checkUntouched(t testing.TB, before string, o Observation) {
	t.Helper()
	if after := snapshot(t, o); after != before {
		t.Fatalf("the observation was changed:\n%s\n%s", before, after)
	}
}

func checkStep(t testing.TB, o Observation, step Step) {
	t.Helper()
	fault := func(what string) {
		t.Helper()
		t.Errorf("%s: %s\nof %s", what, words(&o, step), snapshot(t, o))
	}
	switch step := step.(type) {
	case Begin:
		checkBegin(o, step, fault)
	case Store:
		checkStore(o, step, fault)
	case Launch:
		a := o.action()
		if o.Flight.State != FlightGranted || !a.Attempt.Open() || a.Attempt.Executor != me || a.Attempt.Number != o.Flight.Attempt {
			fault("I2, I3: launched without a grant")
		}
		if a.Claim != "" && !o.holdsClaim() {
			fault("I7: launched without the claim")
		}
	case Check:
		a := o.action()
		if (!a.Unsettled && step.Kind != Preparation) || a.Attempt.Open() || o.Flight.State == FlightRunning || !step.Kind.Checks() {
			fault("a check of what is not in doubt")
		}
		if step.Kind == SettledVerification && o.Sighted < a.Attempt.Timeout.Duration+o.Template.SettleAfter {
			fault("I4: a no would be believed too early")
		}
	case Expire:
		if o.Submission != nil || o.action().ExpiresAt == nil || o.Now.Before(o.action().ExpiresAt.Time) || o.action().Unsettled {
			fault("I8: what is needed expires")
		}
	case Remove:
		checkRemove(o, fault)
	case Judge:
		if len(step.Message) > 1024 || step.Message == "" || step.State == v1alpha1.DecisionPending {
			fault("a judgement that says nothing")
		}
	case Wait:
		checkWait(o, step, fault)
	}
}

func checkBegin(o Observation, step Begin, fault func(string)) {
	next := &step.Action
	if o.Submission == nil || o.Submission.DeletionTimestamp != nil {
		fault("hazard 24: begun for nobody")
	}
	if next.Phase != v1alpha1.PhaseProcessing || next.Reason != v1alpha1.ReasonExecuting || !next.Attempt.Open() || next.Attempt.Executor != me || next.Attempt.Timeout.Duration != o.Template.Timeout || next.EffectDigest != o.Template.Digest || next.ExpiresAt != nil || next.NextAt != nil {
		fault("a begin that is none")
	}
	if o.BusinessKey != "" && next.Claim == "" {
		fault("I7: begun without a claim to make")
	}
	if o.Flight.State > FlightFull {
		fault("I3: begun while something runs")
	}
	checkSize(next, fault)
	if o.Record.Object == nil {
		if next.Attempt.Number != 1 || next.Unsettled {
			fault("a first attempt that is none")
		}
		if o.Submission.Status.Attempts > 0 || o.Submission.Status.Phase == v1alpha1.PhaseProcessing {
			fault("hazard 19: begun afresh although the status speaks of attempts")
		}
		return
	}
	old := o.action()
	if old.Phase.Terminal() || old.Attempt.Open() || next.Attempt.Number != old.Attempt.Number+1 || next.Unsettled != old.Unsettled {
		fault("I5: begun from what cannot be begun from")
	}
	if old.Unsettled && (!o.Template.ReplaySafe || old.EffectDigest != o.Template.Digest || o.Now.Add(o.Template.Timeout).Sub(old.StartedAt.Time) >= o.Template.RemembersFor || o.Template.Spec.Recovery.Mode == v1alpha1.RecoveryManual) {
		fault("I4: a blind replay")
	}
	if old.Unsettled && next.Checks != old.Checks+1 {
		fault("I9: a repeat that spends nothing")
	}
	if old.Unsettled && old.Attempt.Location != "" && next.Attempt.Job > 0 && !next.Attempt.Doubt {
		fault("hazard 14: what was let go, and not settled, is forgotten")
	}
	if o.restored() {
		fault("hazard 22: begun from a backup")
	}
}

// checkRemove: nothing undecided is removed, nothing early, and nothing whose record would not outlive it for a while.
func checkRemove(o Observation, fault func(string)) {
	a, s := o.action(), o.Submission
	since, finished := FinishedAt(s)
	if !a.Phase.Terminal() || !finished || s.DeletionTimestamp != nil || o.PayloadDigest != a.PayloadDigest {
		fault("I9: what is not decided is removed")
	}
	if o.Now.Before(since.Add(TTL(o.Template.Spec, a.Phase))) {
		fault("removed too early")
	}
	if a.ExpiresAt != nil && a.ExpiresAt.Sub(o.Now) < o.recordTTL()/2 {
		fault("I8: removed, and its record will not be there for who comes back")
	}
}

func checkStore(o Observation, step Store, fault func(string)) {
	next := &step.Action
	checkSize(next, fault)
	if next.Phase.Terminal() {
		if next.Unsettled || next.NextAt != nil || next.Attempt.Open() && next.Phase == v1alpha1.PhaseFailed {
			fault("an end that leaves something open")
		}
		kept := o.Record.Object != nil && o.action().Phase.Terminal() && next.ExpiresAt.Equal(o.action().ExpiresAt)
		if (next.ExpiresAt == nil) != o.keepsRecords() && o.Flight.State != FlightFinished && !kept {
			fault("an end without its time")
		}
	}
	if next.Unsettled && next.ExpiresAt != nil {
		fault("I9: what is unsettled expires")
	}
	if o.Record.Object == nil {
		if next.UID != "" {
			fault("a first write with a UID")
		}
		return
	}
	if next.UID != theRecord {
		fault("hazard 22: a later write without the record's UID")
	}
	old := o.action()
	if next.Attempt.Number < old.Attempt.Number && old.UID == next.UID {
		fault("the attempt number fell")
	}
	if next.PayloadDigest != old.PayloadDigest {
		fault("I6: another payload")
	}
	if old.Phase == v1alpha1.PhaseSuccess && next.Phase != v1alpha1.PhaseSuccess {
		fault("I5: Success was left")
	}
	if old.ResultDigest != "" && (next.ResultDigest != old.ResultDigest || !bytes.Equal(next.Result.Raw, old.Result.Raw)) {
		fault("I6: a stored result was changed")
	}
	retry := next.Decision != nil && next.Decision.Action == v1alpha1.DecisionRetry && (old.Decision == nil || old.Decision.UID != next.Decision.UID)
	if old.Phase == v1alpha1.PhaseFailed && next.Phase != v1alpha1.PhaseFailed && !retry {
		fault("I5: Failed was left without a Retry")
	}
	confirmed := next.Decision != nil && next.Decision.Action == v1alpha1.DecisionConfirmNotApplied
	settled := settledFor(o, old)
	toldSo := settled && (o.Flight.Report.Finished || o.Flight.Kind.Checks())
	if !old.Phase.Terminal() && next.Phase == v1alpha1.PhaseFailed && !confirmed && !toldSo {
		if old.Unsettled || next.Attempt.Outcome == v1alpha1.OutcomeUnknown || next.Attempt.Outcome == v1alpha1.OutcomeInProgress {
			fault("I5: Failed although the effect may have happened")
		}
	}
	if old.Unsettled && !next.Unsettled && !confirmed && next.Phase != v1alpha1.PhaseSuccess && !settled {
		fault("I4: settled without a reason")
	}
}

// settledFor reports whether an answer settles the action: a "no" after the settling time, or a final one about what was
// started, where nothing that was started earlier is in doubt. A "no" from before a backup was restored settles nothing.
func settledFor(o Observation, action *v1alpha1.Action) bool {
	report := &o.Flight.Report
	final := report.Final && !action.Attempt.Doubt
	if o.restored() && o.Flight.Kind.Checks() {
		return false
	}
	return o.Flight.State == FlightFinished && report.Outcome == v1alpha1.OutcomeNotApplied && (final || o.Flight.Kind == SettledVerification)
}

// checkSize: nothing that the API server would refuse.
func checkSize(a *v1alpha1.Action, fault func(string)) {
	if len(a.Message) > 1024 || len(a.Attempt.Message) > 512 || len(a.Submitter) > 1024 || len(a.OnBehalfOf) > 1024 || len(a.OutcomeOnBehalfOf) > 1024 || len(a.Traceparent) > 128 || len(a.History) > 10 {
		fault("hazard 26: the API server would refuse it")
	}
	if a.Message == "" {
		fault("it says nothing")
	}
	for i := range a.History {
		if len(a.History[i].Message) > 512 {
			fault("hazard 26: the API server would refuse its history")
		}
	}
	if a.Decision != nil && (len(a.Decision.Reason) > 512 || len(a.Decision.By) > 1024) {
		fault("hazard 26: the API server would refuse its decision")
	}
}

// checkWait: what waits has a time, or an event that is named here (I9).
func checkWait(o Observation, step Wait, fault func(string)) {
	if step.In < 0 {
		fault("a wait that never was")
	}
	if step.In == 0 && awaits(o) == "" {
		fault("I9: it waits for nothing")
	}
	if o.Flight.State == FlightFinished || o.Flight.State == FlightGranted || o.Flight.State == FlightUnacknowledged {
		fault("I9: it waits with something in hand")
	}
}

// awaits names the event that a wait without a time waits for.
func awaits(o Observation) string {
	if o.Runs {
		return "what the watch tells of it"
	}
	if o.Record.Object == nil {
		switch {
		case o.Flight.State == FlightRunning:
			return "a report"
		case o.Submission == nil, o.Submission.DeletionTimestamp != nil:
			return "nothing: it is gone, or going"
		case o.Submission.Status.Phase.Terminal():
			return "nothing: it has ended"
		}
		if f := gate(&o); f != nil {
			return "an edit, a decision, or nothing: " + string(f.reason)
		}
		return ""
	}
	a := o.action()
	if o.Submission != nil && (o.PayloadDigest != a.PayloadDigest || o.ofAnotherKey()) {
		o.Submission = nil
	}
	switch {
	case o.Flight.State == FlightRunning:
		return "a report"
	case a.Phase.Terminal() && (o.Submission != nil || a.ExpiresAt == nil || !o.Now.Before(a.ExpiresAt.Time)):
		return "nothing: it has ended"
	case a.Phase.Terminal():
		return ""
	case a.Reason == v1alpha1.ReasonOutcomeUnknown:
		return "a decision"
	case a.Unsettled && o.Template.State != TemplateReady:
		return "the template"
	case a.Unsettled || a.Attempt.Open():
		return ""
	case o.Submission == nil:
		return "the submission"
	}
	if f := regate(&o, a); f != nil {
		return "the template, or a decision"
	}
	return ""
}

// checkStatus holds what is true of every projection.
func checkStatus(t testing.TB, o Observation, s v1alpha1.TaskSubmissionStatus) {
	t.Helper()
	fault := func(what string) {
		t.Helper()
		t.Errorf("%s: %+v\nof %s", what, s, snapshot(t, o))
	}
	if len(s.Message) > 1024 {
		fault("a message that the API server refuses")
	}
	if o.Record.Object != nil && len(s.Conditions) > 4 {
		fault("too many conditions")
	}
	if s.Phase == "" || s.Reason == "" || s.Message == "" {
		fault("a status that says nothing")
	}
	if phase, ok := phaseOf[s.Reason]; !ok || phase != s.Phase {
		fault("a reason of another phase")
	}
	if !s.Phase.Terminal() && s.ExpiresAt != nil {
		fault("what goes on expires")
	}
	if s.Phase.Terminal() && s.CompletedAt == nil {
		fault("an end without a time")
	}
	conditions := map[string]string{}
	for _, condition := range s.Conditions {
		conditions[condition.Type] = string(condition.Status)
		if condition.LastTransitionTime.IsZero() || condition.Reason == "" || condition.ObservedGeneration != o.Submission.Generation {
			fault("a condition without " + condition.Type)
		}
	}
	want := map[string]string{v1alpha1.ConditionReady: "False"}
	if s.Phase == v1alpha1.PhaseSuccess {
		want[v1alpha1.ConditionReady] = "True"
	}
	if s.Phase.Terminal() {
		want[v1alpha1.ConditionFinished] = "True"
	}
	if s.Phase == v1alpha1.PhaseFailed || s.Reason == v1alpha1.ReasonOutcomeUnknown {
		want[v1alpha1.ConditionStalled] = "True"
	} else if s.Phase != v1alpha1.PhaseSuccess {
		want[v1alpha1.ConditionReconciling] = "True"
	}
	if len(want) != len(conditions) {
		fault("other conditions than the phase has")
	}
	for kind, state := range want {
		if conditions[kind] != state {
			fault("the condition " + kind)
		}
	}
}

// checkStable: writing the status makes the next one equal, now and after some time.
func checkStable(t testing.TB, o Observation, s v1alpha1.TaskSubmissionStatus, after time.Duration) {
	t.Helper()
	o.Submission = o.Submission.DeepCopy()
	o.Submission.Status = *s.DeepCopy()
	first := asJSON(t, s)
	for _, wait := range []time.Duration{0, after} {
		o.Now = o.Now.Add(wait)
		if again := asJSON(t, Project(o)); again != first {
			t.Errorf("the status changes by itself after %s:\n%s\n%s\nof %s", wait, first, again, snapshot(t, o))
		}
	}
}

func asJSON(t testing.TB, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

var phaseOf = map[v1alpha1.Reason]v1alpha1.Phase{}

func init() {
	for phase, reasons := range map[v1alpha1.Phase][]v1alpha1.Reason{
		v1alpha1.PhasePending:    {v1alpha1.ReasonAccepted, v1alpha1.ReasonNotYet, v1alpha1.ReasonTemplateNotFound, v1alpha1.ReasonTemplateNotReady, v1alpha1.ReasonTemplateSuspended, v1alpha1.ReasonDependencyMissing, v1alpha1.ReasonAwaitingApproval, v1alpha1.ReasonBusinessKeyHeld, v1alpha1.ReasonLimitReached},
		v1alpha1.PhaseProcessing: {v1alpha1.ReasonExecuting, v1alpha1.ReasonInProgress, v1alpha1.ReasonRetrying, v1alpha1.ReasonVerifying, v1alpha1.ReasonOutcomeUnknown},
		v1alpha1.PhaseSuccess:    {v1alpha1.ReasonApplied, v1alpha1.ReasonAlreadyApplied, v1alpha1.ReasonVerifiedApplied, v1alpha1.ReasonConfirmedApplied},
		v1alpha1.PhaseFailed:     {v1alpha1.ReasonInvalidName, v1alpha1.ReasonInvalidParameters, v1alpha1.ReasonKeyMismatch, v1alpha1.ReasonKeyReused, v1alpha1.ReasonBusinessKeyConflict, v1alpha1.ReasonRejected, v1alpha1.ReasonRetriesExhausted, v1alpha1.ReasonTooLate, v1alpha1.ReasonCancelled, v1alpha1.ReasonConfirmedNotApplied},
	} {
		for _, reason := range reasons {
			phaseOf[reason] = phase
		}
	}
}
