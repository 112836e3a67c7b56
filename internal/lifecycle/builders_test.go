package lifecycle

import (
	"fmt"
	"strconv"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// A test observes with seen(…) and reads the step in words: see words.

const (
	me, somebodyElse = "executor-me", "executor-other"
	payload          = "sha256:payload"
	digest           = "sha256:effect"
	edited           = "sha256:edited"
	theRecord        = types.UID("record-uid")
	theSubmission    = types.UID("submission-uid")
	timeout          = 10 * time.Second
	settleAfter      = 20 * time.Second
)

var t0 = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

type option func(*Observation)

// seen is a submission of a ready template of which nothing is known yet, changed by the options in their order.
func seen(options ...option) Observation {
	o := Observation{
		Now: t0, Executor: me, Key: "k", PayloadDigest: payload,
		Submission: &v1alpha1.TaskSubmission{
			ObjectMeta: metav1.ObjectMeta{Name: "k", UID: theSubmission, Generation: 1, CreationTimestamp: metav1.NewTime(t0.Add(-time.Minute)), Annotations: map[string]string{v1alpha1.AnnotationSubmittedBy: "ann"}},
			Spec:       v1alpha1.TaskSubmissionSpec{TemplateRef: v1alpha1.TemplateRef{Name: "tpl"}, Parameters: apiextensionsv1.JSON{Raw: []byte(`{"n":1}`)}},
			Status:     v1alpha1.TaskSubmissionStatus{Phase: v1alpha1.PhasePending, ObservedGeneration: -1},
		},
		Template: Template{State: TemplateReady, Digest: digest, Timeout: timeout, SettleAfter: settleAfter, Spec: &v1alpha1.TaskTemplateSpec{
			OnBusinessKeyConflict: v1alpha1.ReturnFirst,
			Retry:                 v1alpha1.Retry{MaxAttempts: 3, InitialDelay: every(time.Second), MaxDelay: every(time.Minute)},
			Recovery:              v1alpha1.Recovery{Mode: v1alpha1.RecoveryAuto, StuckAfter: every(5 * time.Minute), MaxChecks: 4},
			Retention:             v1alpha1.Retention{RecordTTL: every(time.Hour), Policy: v1alpha1.RetentionExpire},
		}},
	}
	for _, option := range options {
		option(&o)
	}
	return o
}

func every(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }

func ago(d time.Duration) *metav1.Time     { return &metav1.Time{Time: t0.Add(-d)} }
func in(d time.Duration) *metav1.Time      { return &metav1.Time{Time: t0.Add(d)} }
func micro(at time.Time) *metav1.MicroTime { return &metav1.MicroTime{Time: at} }
func later(d time.Duration) option         { return func(o *Observation) { o.Now = o.Now.Add(d) } }
func sighted(d time.Duration) option       { return func(o *Observation) { o.Sighted = d } }
func template(f func(*Template)) option    { return func(o *Observation) { f(&o.Template) } }
func problem(reason v1alpha1.Reason) option {
	return func(o *Observation) { o.Problem = &Problem{Reason: reason, Message: "wrong"} }
}
func status(f func(*v1alpha1.TaskSubmissionStatus)) option {
	return func(o *Observation) { f(&o.Submission.Status) }
}
func submission(f func(*v1alpha1.TaskSubmission)) option {
	return func(o *Observation) { f(o.Submission) }
}

func policy(f func(*v1alpha1.TaskTemplateSpec)) option {
	return func(o *Observation) {
		if o.Template.Spec != nil {
			f(o.Template.Spec)
		}
	}
}

// queueing is how it is where a slot has been asked for, for so long, and there is none.
func queueing(since time.Duration) func(*Observation) {
	return func(o *Observation) { o.Flight = Flight{State: FlightFull, Asked: since} }
}

func readNothing(o *Observation) { o.Record = Record{Read: true} }
func gone(o *Observation)        { o.Submission, o.PayloadDigest = nil, "" }
func deleting(o *Observation)    { o.Submission.DeletionTimestamp = ago(time.Second) }
func recreated(o *Observation)   { o.Submission.UID = "another-submission-uid" }
func otherPayload(o *Observation) {
	o.PayloadDigest = "sha256:other payload"
}
func notFound(o *Observation) {
	o.Template = Template{State: TemplateNotFound, Message: "there is none"}
	o.BusinessKey, o.Problem = "", nil
}
func notReady(o *Observation) {
	notFound(o)
	o.Template.State = TemplateNotReady
}
func verifies(o *Observation)   { o.Template.Verifies = true }
func forbids(o *Observation)    { o.Template.Verifies, o.Template.Forbids = true, true }
func replaySafe(o *Observation) { o.Template.ReplaySafe, o.Template.RemembersFor = true, time.Hour }
func paused(d time.Duration) option {
	return template(func(t *Template) { t.Pause = &Pause{Until: t0.Add(d), Message: "401"} })
}
func refusedWith(said string) option { return func(o *Observation) { o.Refused = said } }
func wasEdited(o *Observation)       { o.Template.Digest = edited }
func suspended(o *Observation)       { o.Template.Spec.Suspend = true }
func manual(o *Observation)          { o.Template.Spec.Recovery.Mode = v1alpha1.RecoveryManual }
func keeps(o *Observation)           { o.Template.Spec.Retention.Policy = v1alpha1.RetentionKeep }
func failsConflicts(o *Observation) {
	o.Template.Spec.OnBusinessKeyConflict = v1alpha1.FailConflict
}
func approved(o *Observation) {
	o.Template.Spec.Approval = &v1alpha1.Approval{Required: true, DistinctFromSubmitter: true}
}
func approvedByAnyone(o *Observation) { o.Template.Spec.Approval = &v1alpha1.Approval{Required: true} }

// recorded gives the action a record: attempt 1 was begun by this process and is open, changed by the changes.
func recorded(changes ...func(*v1alpha1.Action)) option {
	return func(o *Observation) {
		action := &v1alpha1.Action{
			PayloadDigest: payload, EffectDigest: digest, UID: theRecord, Submitter: "ann",
			Submission: v1alpha1.SubmissionRef{Name: "k", UID: theSubmission},
			Phase:      v1alpha1.PhaseProcessing, Reason: v1alpha1.ReasonExecuting, Message: "the effect is being carried out",
			Attempt:   v1alpha1.Attempt{Number: 1, StartedAt: micro(t0), Timeout: every(timeout), Executor: me},
			StartedAt: &metav1.Time{Time: t0},
		}
		for _, change := range changes {
			change(action)
		}
		o.Record = Record{Read: true, Object: &v1alpha1.TaskRecord{
			ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.RecordName("k"), UID: theRecord, ResourceVersion: "7"},
			Spec:       v1alpha1.TaskRecordSpec{Type: v1alpha1.RecordIdempotencyKey, Key: "k", Template: "tpl", Action: action},
		}}
		labelled(o.Record.Object, time.Time{})
	}
}

// finishedFor has the status say that the submission finished a while ago.
func finishedFor(d time.Duration) option {
	return status(func(s *v1alpha1.TaskSubmissionStatus) {
		s.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, LastTransitionTime: *ago(d)}}
		if !s.Phase.Terminal() {
			s.Phase = v1alpha1.PhaseSuccess
		}
	})
}

// dueIn labels the record as due in a while.
func dueIn(d time.Duration) option {
	return func(o *Observation) {
		o.Record.Object.Labels[v1alpha1.LabelDue] = strconv.FormatInt(label(t0.Add(d)), 10)
	}
}

func executor(name string) func(*v1alpha1.Action) {
	return func(a *v1alpha1.Action) { a.Attempt.Executor = name }
}
func begunAt(at time.Time) func(*v1alpha1.Action) {
	return func(a *v1alpha1.Action) { a.Attempt.StartedAt = micro(at) }
}
func number(n int32) func(*v1alpha1.Action)  { return func(a *v1alpha1.Action) { a.Attempt.Number = n } }
func checks(n int32) func(*v1alpha1.Action)  { return func(a *v1alpha1.Action) { a.Checks = n } }
func tries(n int32) func(*v1alpha1.Action)   { return func(a *v1alpha1.Action) { a.Tries = n } }
func retries(n int32) func(*v1alpha1.Action) { return func(a *v1alpha1.Action) { a.Retries = n } }
func unsettled(a *v1alpha1.Action)           { a.Unsettled = true }
func fromBackup(a *v1alpha1.Action)          { a.UID = "the uid before the backup" }
func because(reason v1alpha1.Reason) func(*v1alpha1.Action) {
	return func(a *v1alpha1.Action) { a.Reason = reason }
}
func nextIn(d time.Duration) func(*v1alpha1.Action) {
	return func(a *v1alpha1.Action) { a.NextAt = micro(t0.Add(d)) }
}
func expiresIn(d time.Duration) func(*v1alpha1.Action) {
	return func(a *v1alpha1.Action) { a.ExpiresAt = in(d) }
}

func keptForEver(a *v1alpha1.Action) { a.ExpiresAt = nil }
func neverAgain(a *v1alpha1.Action)  { a.NextAt = nil }

// retrying: the attempt certainly had no effect.
func retrying(a *v1alpha1.Action) {
	a.Reason, a.Attempt.Outcome, a.NextAt, a.Tries = v1alpha1.ReasonRetrying, v1alpha1.OutcomeNotApplied, micro(t0), 1
}

// unknown: the attempt may have had its effect.
func unknown(a *v1alpha1.Action) {
	a.Reason, a.Attempt.Outcome, a.NextAt, a.Unsettled = v1alpha1.ReasonVerifying, v1alpha1.OutcomeUnknown, micro(t0), true
}

func accepted(a *v1alpha1.Action) {
	a.Reason, a.Attempt.Outcome, a.NextAt, a.Unsettled = v1alpha1.ReasonInProgress, v1alpha1.OutcomeInProgress, micro(t0), true
	a.Attempt.Location = "https://receiver/1"
}

func isHeld(a *v1alpha1.Action) {
	a.Reason, a.Attempt.Outcome, a.NextAt = v1alpha1.ReasonBusinessKeyHeld, v1alpha1.OutcomeNotApplied, micro(t0.Add(HeldInterval))
}

func ends(phase v1alpha1.Phase, reason v1alpha1.Reason) func(*v1alpha1.Action) {
	return func(a *v1alpha1.Action) {
		a.Phase, a.Reason, a.Message, a.CompletedAt, a.ExpiresAt = phase, reason, "it ended", ago(0), in(time.Hour)
		a.Attempt.Outcome = v1alpha1.OutcomeNotApplied
		if phase == v1alpha1.PhaseSuccess {
			a.Attempt.Outcome, a.Result, a.ResultDigest = v1alpha1.OutcomeApplied, &apiextensionsv1.JSON{Raw: []byte(`"first"`)}, "sha256:first"
		}
	}
}

var (
	hasSucceeded = ends(v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
	hasFailed    = ends(v1alpha1.PhaseFailed, v1alpha1.ReasonRejected)
)

// cancelledEarly was ended before anything began.
func cancelledEarly(a *v1alpha1.Action) {
	ends(v1alpha1.PhaseFailed, v1alpha1.ReasonCancelled)(a)
	a.Attempt, a.StartedAt, a.EffectDigest = v1alpha1.Attempt{}, nil, ""
}

func flight(state FlightState) option {
	return func(o *Observation) { o.Flight.State, o.Flight.Attempt, o.Flight.Begun = state, 1, t0 }
}

func reported(report Report) option {
	return func(o *Observation) { o.Flight.State, o.Flight.Attempt, o.Flight.Report = FlightFinished, 1, report }
}

func checked(kind FlightKind, report Report) option {
	return func(o *Observation) {
		reported(report)(o)
		o.Flight.Kind = kind
	}
}

// forbidden is what came of having the receiver refuse the attempt.
func forbidden(report Report) option {
	return checked(Prohibition, report)
}

func ofAttempt(n int32) option { return func(o *Observation) { o.Flight.Attempt = n } }

var (
	applied    = Report{Outcome: v1alpha1.OutcomeApplied, Result: []byte(`"mine"`), ResultDigest: "sha256:mine"}
	refusal    = Report{Outcome: v1alpha1.OutcomeNotApplied, Permanent: true, Message: "422"}
	busy       = Report{Outcome: v1alpha1.OutcomeNotApplied, Message: "429"}
	noAnswer   = Report{Outcome: v1alpha1.OutcomeUnknown, Message: "no answer"}
	inProgress = Report{Outcome: v1alpha1.OutcomeInProgress, Message: "202", Location: "https://receiver/1"}
	noEntry    = Report{Outcome: v1alpha1.OutcomeNotApplied, Unauthorized: true, Message: "401"}
	noSecret   = Report{Outcome: v1alpha1.OutcomeNotApplied, Missing: true, Message: "no Secret"}
)

// businessKey gives the submission a business key, and its record a claim to make.
func businessKey(o *Observation) {
	o.BusinessKey = "b"
	if o.Record.Object != nil {
		o.action().BusinessKey, o.action().Claim = "b", v1alpha1.ClaimName("tpl", "b")
	}
}

// claimedBy says who holds the business key; holder changes the holder's action.
func claimedBy(record string, uid types.UID, claimRetries int32, holder ...func(*v1alpha1.Action)) option {
	return func(o *Observation) {
		o.Claim = Claim{Read: true, Object: &v1alpha1.TaskRecord{
			ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.ClaimName("tpl", "b"), ResourceVersion: "9"},
			Spec:       v1alpha1.TaskRecordSpec{Type: v1alpha1.RecordBusinessKey, Key: "b", Template: "tpl", Holder: &v1alpha1.Holder{Record: record, UID: uid, Retries: claimRetries}},
		}}
		if len(holder) > 0 {
			other := seen(recorded(holder...)).Record.Object
			other.Namespace, other.Name, other.UID, other.Spec.Action.Submission.Name = "shop", record, uid, "first"
			o.Claim.Holder = other
		}
	}
}

var (
	claimFree   = option(func(o *Observation) { o.Claim = Claim{Read: true} })
	claimedByMe = claimedBy(v1alpha1.RecordName("k"), theRecord, 0)
	holderGone  = claimedBy("ik-other", "other-uid", 0)
)

func claimedByOther(holder ...func(*v1alpha1.Action)) option {
	return claimedBy("ik-other", "other-uid", 0, append([]func(*v1alpha1.Action){func(*v1alpha1.Action) {}}, holder...)...)
}

// decided adds a pending decision by Bob about the submission.
func decided(action v1alpha1.DecisionAction, attempt int32, changes ...func(*v1alpha1.TaskDecision)) option {
	return func(o *Observation) {
		decision := v1alpha1.TaskDecision{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("d%d", len(o.Decisions)), UID: types.UID(fmt.Sprintf("d%d-uid", len(o.Decisions))), Annotations: map[string]string{v1alpha1.AnnotationDecidedBy: "bob"}},
			Spec:       v1alpha1.TaskDecisionSpec{Submission: "k", UID: theSubmission, Attempt: attempt, Action: action, Reason: "because"},
		}
		if action == v1alpha1.DecisionApprove {
			decision.Spec.TemplateDigest = digest
		}
		for _, change := range changes {
			change(&decision)
		}
		o.Decisions = append(o.Decisions, decision)
	}
}

func by(person string) func(*v1alpha1.TaskDecision) {
	return func(d *v1alpha1.TaskDecision) {
		d.Annotations = map[string]string{v1alpha1.AnnotationDecidedBy: person}
	}
}
func naming(uid types.UID) func(*v1alpha1.TaskDecision) {
	return func(d *v1alpha1.TaskDecision) { d.Spec.UID = uid }
}
func pinning(digest string) func(*v1alpha1.TaskDecision) {
	return func(d *v1alpha1.TaskDecision) { d.Spec.TemplateDigest = digest }
}
func triedAgainIn(d time.Duration) func(*v1alpha1.TaskDecision) {
	return func(td *v1alpha1.TaskDecision) {
		td.Status = v1alpha1.TaskDecisionStatus{State: v1alpha1.DecisionPending, Message: "not yet", NextAt: micro(t0.Add(d))}
	}
}
func withResult(raw string) func(*v1alpha1.TaskDecision) {
	return func(d *v1alpha1.TaskDecision) { d.Spec.Result = &apiextensionsv1.JSON{Raw: []byte(raw)} }
}
