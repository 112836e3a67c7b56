package lifecycle

import (
	"math/rand/v2"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Random observations, each from a seed that a failure names. They are not all reachable: judgement must be right
// about whatever it is shown.

type dice struct{ *rand.Rand }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

func (d dice) span() time.Duration {
	return pick(d, 0, time.Millisecond, time.Second, 15*time.Second, 30*time.Second, time.Minute, 10*time.Minute, time.Hour, 48*time.Hour)
}

func (d dice) time() *metav1.Time {
	if d.chance(50) {
		return nil
	}
	return &metav1.Time{Time: t0.Add(d.span()).Add(-d.span())}
}

func (d dice) outcome() v1alpha1.Outcome {
	return pick(d, v1alpha1.OutcomeApplied, v1alpha1.OutcomeNotApplied, v1alpha1.OutcomeNotApplied, v1alpha1.OutcomeInProgress, v1alpha1.OutcomeUnknown)
}

func randomObservation(seed uint64) Observation {
	d := dice{rand.New(rand.NewPCG(seed, 7))}
	o := seen()
	o.Jitter, o.Sighted = d.Float64(), d.span()
	d.template(&o)
	if d.chance(70) {
		d.record(&o)
	} else {
		o.Record.Read = d.chance(50)
	}
	if d.chance(50) {
		businessKey(&o)
		if o.Template.State != TemplateReady {
			o.BusinessKey = ""
		}
		d.claim(&o)
	}
	d.submission(&o)
	d.flight(&o)
	for range d.IntN(3) {
		d.decision(&o)
	}
	return o
}

func (d dice) template(o *Observation) {
	o.Template.Verifies, o.Template.ReplaySafe, o.Template.RemembersFor = d.chance(50), d.chance(50), d.span()
	o.Template.Forbids, o.Template.Prepares = d.chance(30), d.chance(50)
	if d.chance(20) {
		detached(o)
	}
	pick(d, func() {}, func() {}, func() { notFound(o) }, func() { notReady(o) })()
	if o.Template.State != TemplateReady {
		return
	}
	for _, change := range []option{suspended, wasEdited, approved, approvedByAnyone, manual, keeps} {
		if d.chance(15) {
			change(o)
		}
	}
	if d.chance(40) {
		failsConflicts(o)
	}
	if d.chance(15) {
		problem(pick(d, v1alpha1.ReasonInvalidParameters, v1alpha1.ReasonKeyMismatch))(o)
	}
}

// record makes an action that could have been stored: outcome, reason and unsettled fit together.
func (d dice) record(o *Observation) {
	recorded(pick(d, func(*v1alpha1.Action) {}, retrying, unknown, accepted, isHeld, hasSucceeded, hasFailed, cancelledEarly))(o)
	a := o.action()
	a.Tries, a.Checks, a.Retries = int32(d.IntN(4)), int32(d.IntN(6)), int32(d.IntN(2))
	a.Attempt.Executor = pick(d, me, somebodyElse)
	a.Submission.UID = pick(d, theSubmission, "an earlier submission")
	if a.Attempt.Number > 0 {
		a.Attempt.Number = int32(1 + d.IntN(3))
	}
	if !a.Phase.Terminal() {
		a.Unsettled = a.Unsettled || (a.Reason != v1alpha1.ReasonBusinessKeyHeld && d.chance(30))
		a.UID = pick(d, theRecord, theRecord, theRecord, "", "from a backup")
		if a.NextAt != nil {
			a.NextAt = micro(t0.Add(d.span()).Add(-d.span()))
		}
		if a.Unsettled && !a.Attempt.Open() && d.chance(25) {
			a.Reason, a.NextAt = v1alpha1.ReasonOutcomeUnknown, nil
		}
		if a.Reason == v1alpha1.ReasonRetrying && d.chance(25) {
			a.Reason = pick(d, v1alpha1.ReasonDependencyMissing, v1alpha1.ReasonRetrying)
		}
		if !a.Unsettled && !a.Attempt.Open() && d.chance(20) {
			a.ExpiresAt, a.NextAt = d.time(), nil
		}
		a.Attempt.Location = ""
		a.Attempt.Missing = a.Attempt.Outcome == v1alpha1.OutcomeNotApplied && d.chance(30)
		if o.Template.Detached {
			d.started(o)
		}
	} else {
		a.ExpiresAt, a.Unapproved = d.time(), d.chance(30)
		labelled(o.Record.Object, pick(d, time.Time{}, t0.Add(-d.span()), t0.Add(d.span())))
	}
	a.ApprovedDigest = pick(d, "", digest, edited)
	a.EffectDigest = pick(d, digest, digest, digest, edited, "")
	a.History = make([]v1alpha1.Attempt, d.IntN(11))
	if d.chance(10) && !a.Phase.Terminal() {
		a.StartedAt = nil
	}
	if d.chance(10) {
		a.Decision = &v1alpha1.DecisionRef{Name: "d0", UID: "d0-uid", Action: v1alpha1.DecisionCancel}
	}
}

// started makes the attempt one of a detached effect.
func (d dice) started(o *Observation) {
	a := &o.action().Attempt
	a.Job = int32(d.IntN(int(a.Number) + 1))
	if a.Job == 0 {
		return
	}
	a.Doubt = o.action().Unsettled && d.chance(30)
	if a.Outcome == v1alpha1.OutcomeInProgress || d.chance(30) {
		a.Location = "k-a1"
		o.Runs = Follows(o.action()) && d.chance(50)
	}
	a.Finished = !o.Runs && !a.Open() && a.Outcome != v1alpha1.OutcomeInProgress && d.chance(30)
	if a.Finished {
		a.Message = "it finished"
	}
}

func (d dice) claim(o *Observation) {
	holder := pick(d, func(*v1alpha1.Action) {}, retrying, unknown, hasSucceeded, hasSucceeded, hasFailed, isHeld)
	pick(d, func(*Observation) {}, claimFree, claimedByMe, holderGone, claimedByOther(holder), claimedByOther(holder),
		claimedBy(v1alpha1.RecordName("k"), pick[types.UID](d, theRecord, "earlier"), int32(d.IntN(2))))(o)
}

func (d dice) submission(o *Observation) {
	s := o.Submission
	s.Spec.NotBefore, s.Spec.NotAfter = d.time(), d.time()
	if d.chance(15) {
		s.DeletionTimestamp = ago(time.Second)
	}
	if d.chance(15) {
		s.UID = "another-submission-uid"
	}
	if d.chance(10) {
		s.Annotations = nil
	}
	if d.chance(5) {
		s.Name, s.Spec.IdempotencyKey = "another", "k"
	}
	if d.chance(20) {
		s.Status = v1alpha1.TaskSubmissionStatus{
			Phase: pick(d, v1alpha1.PhasePending, v1alpha1.PhaseProcessing, v1alpha1.PhaseSuccess, v1alpha1.PhaseFailed), Reason: v1alpha1.ReasonRejected,
			Attempts: int32(d.IntN(3)), CompletedAt: ago(time.Hour), StartedAt: d.time(), Message: "as it was",
		}
		if d.chance(50) {
			finishedFor(4 * d.span())(o)
		}
	}
	switch {
	case d.chance(20):
		gone(o)
	case d.chance(10):
		otherPayload(o)
	}
}

func (d dice) flight(o *Observation) {
	o.Flight = Flight{
		State: pick(d, FlightNone, FlightNone, FlightFull, FlightUnacknowledged, FlightGranted, FlightRunning, FlightFinished), Attempt: int32(1 + d.IntN(3)),
		Running: d.span(),
	}
	if o.Record.Object != nil && d.chance(60) {
		o.Flight.Attempt = max(o.action().Attempt.Number, 1)
	}
	if o.Flight.State >= FlightRunning {
		o.Flight.Kind = pick(d, Execution, Execution, Execution, Execution, Poll, Verification, SettledVerification, SettledVerification, Prohibition, Preparation)
	}
	if o.Flight.State == FlightFinished {
		o.Flight.Report = Report{
			Outcome: d.outcome(), Permanent: d.chance(25), Missing: d.chance(10), Unauthorized: d.chance(10), Message: strings.Repeat("it says so. ", 1+d.IntN(200)), RetryAfter: d.span(),
		}
		if report := &o.Flight.Report; o.Record.Object != nil && o.action().Attempt.Job > 0 && report.Outcome != v1alpha1.OutcomeInProgress {
			report.Finished = d.chance(30)
			report.Final = report.Finished || (o.Flight.Kind.Checks() && d.chance(30))
		}
		if o.Flight.Report.Outcome == v1alpha1.OutcomeApplied {
			o.Flight.Report.Result, o.Flight.Report.ResultDigest = []byte(`"mine"`), "sha256:mine"
		}
	}
	if o.Flight.State == FlightFull && d.chance(50) {
		o.Flight.FreeAt = t0.Add(d.span())
	}
	if o.Flight.State == FlightFull {
		o.Flight.Asked = pick(d, 0, QuietInQueue/2, QuietInQueue)
	}
	if o.Record.Read && o.Record.Object == nil && o.Flight.State > FlightUnacknowledged {
		kept := seen(recorded(pick(d, func(*v1alpha1.Action) {}, unknown)))
		o.Record.Last = kept.action()
	}
}

func (d dice) decision(o *Observation) {
	attempt := int32(d.IntN(3))
	if o.Record.Object != nil && d.chance(60) {
		attempt = o.action().Attempt.Number
	}
	decided(pick(d, v1alpha1.DecisionApprove, v1alpha1.DecisionCancel, v1alpha1.DecisionRetry, v1alpha1.DecisionConfirmApplied, v1alpha1.DecisionConfirmNotApplied, v1alpha1.DecisionRelease), attempt,
		naming(pick[types.UID](d, theSubmission, theRecord, "other")), pinning(pick(d, digest, edited, "")), by(pick(d, "ann", "bob", "")))(o)
}
