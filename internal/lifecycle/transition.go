package lifecycle

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Every function here makes one legal transition of an action: it takes the action as it is stored and returns it
// as it is to be stored next. Those that a person's decision makes are in decided.go.

const (
	maxHistory        = 10
	maxMessage        = 1024
	maxAttemptMessage = 512
)

// newAction is an action of which nothing was stored yet.
func newAction(o *Observation) *v1alpha1.Action {
	action := &v1alpha1.Action{
		PayloadDigest: o.PayloadDigest,
		Submission:    v1alpha1.SubmissionRef{Name: o.Submission.Name, UID: o.Submission.UID},
		Submitter:     cut(o.submitter(), maxMessage),
		OnBehalfOf:    cut(o.onBehalfOf(), maxMessage),
		Traceparent:   o.Submission.Annotations[v1alpha1.AnnotationTraceparent],
	}
	if len(action.Traceparent) > 128 {
		action.Traceparent = ""
	}
	if len(o.Submission.Spec.Parameters.Raw) > 0 {
		action.Parameters = o.Submission.Spec.Parameters.DeepCopy()
	}
	claimable(o, action)
	return action
}

// claimable names the claim of an action whose business key is known by now: a verdict claims nothing, and where the
// template could not be read the key was not known.
func claimable(o *Observation, action *v1alpha1.Action) {
	if action.Claim == "" && o.BusinessKey != "" {
		action.BusinessKey, action.Claim = o.BusinessKey, v1alpha1.ClaimName(o.Submission.Spec.TemplateRef.Name, o.BusinessKey)
	}
}

// begin opens the next attempt.
func begin(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	next := *action.DeepCopy()
	remember(&next)
	claimable(o, &next) // no effect without its claim (I7)
	if approval := o.approval(action.Attempt.Number); approval != nil && o.needsApproval() {
		next.Approval, next.ApprovedDigest = decisionRef(approval), o.Template.Digest
	}
	next.Attempt = v1alpha1.Attempt{
		Number:    action.Attempt.Number + 1,
		StartedAt: microsecond(o.Now),
		Timeout:   metav1.Duration{Duration: o.Template.Timeout},
		Executor:  o.Executor,
	}
	nameStarted(o, action, &next.Attempt)
	if next.StartedAt == nil {
		next.StartedAt = second(o.Now)
	}
	next.EffectDigest = o.Template.Digest
	next.NextAt, next.ExpiresAt = nil, nil
	next.Phase, next.Reason = v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting
	next.Message = "the effect is being carried out"
	return o.signed(next)
}

// repeated opens the next attempt of what may have had its effect. It takes the place of a check.
func repeated(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	next := begin(o, action)
	next.Checks++
	return next
}

// remember moves the current attempt into the history.
func remember(action *v1alpha1.Action) {
	if action.Attempt.Number == 0 {
		return
	}
	action.History = append(action.History, action.Attempt)
	if extra := len(action.History) - maxHistory; extra > 0 {
		action.History = action.History[extra:]
	}
}

// closed gives the current attempt its outcome.
func closed(o *Observation, action *v1alpha1.Action, outcome v1alpha1.Outcome, message string) v1alpha1.Action {
	next := *action.DeepCopy()
	next.Attempt.Outcome = outcome
	next.Attempt.Message = cut(message, maxAttemptMessage)
	return o.signed(next)
}

// doubted closes an attempt that may have had its effect.
func doubted(o *Observation, action *v1alpha1.Action, message string) v1alpha1.Action {
	next := closed(o, action, v1alpha1.OutcomeUnknown, message)
	next.Unsettled = true
	return next
}

// takenOn closes an attempt that its receiver finishes later, and says where.
func takenOn(o *Observation, action *v1alpha1.Action, location, message string) v1alpha1.Action {
	next := closed(o, action, v1alpha1.OutcomeInProgress, message)
	next.Unsettled = true
	next.Attempt.Location = location
	return next
}

// between waits for the next step of an action that goes on.
func between(o *Observation, action *v1alpha1.Action, reason v1alpha1.Reason, message string, wait time.Duration) v1alpha1.Action {
	next := *action.DeepCopy()
	next.Phase, next.Reason, next.Message = v1alpha1.PhaseProcessing, reason, cut(message, maxMessage)
	next.NextAt = microsecond(o.Now.Add(wait))
	next.ExpiresAt = nil // what goes on does not expire
	return o.signed(next)
}

// succeeded is the end that never changes. The first stored result stays (I6).
func succeeded(o *Observation, action *v1alpha1.Action, reason v1alpha1.Reason, message string, result *apiextensionsv1.JSON, digest string) v1alpha1.Action {
	next := ended(o, action, v1alpha1.PhaseSuccess, reason, message)
	if reason != v1alpha1.ReasonAlreadyApplied {
		next.Attempt.Outcome = v1alpha1.OutcomeApplied
	}
	if next.ResultDigest == "" {
		next.Result, next.ResultDigest = result, digest
	}
	return next
}

// failed is the end of what certainly had no effect.
func failed(o *Observation, action *v1alpha1.Action, reason v1alpha1.Reason, message string) v1alpha1.Action {
	return ended(o, action, v1alpha1.PhaseFailed, reason, message)
}

func ended(o *Observation, action *v1alpha1.Action, phase v1alpha1.Phase, reason v1alpha1.Reason, message string) v1alpha1.Action {
	next := *action.DeepCopy()
	next.Phase, next.Reason, next.Message = phase, reason, cut(message, maxMessage)
	next.Unsettled, next.NextAt = false, nil
	if phase == v1alpha1.PhaseSuccess {
		next.Parameters = nil // nothing is verified or sent any more
	}
	next.CompletedAt = second(o.Now)
	next.ExpiresAt = o.expiry()
	return o.signed(next)
}

// verdict is an end before any attempt; it is a record, so that losing the status does not undo it (I8).
func verdict(o *Observation, f *finding) v1alpha1.Action {
	action := newAction(o)
	if f.reason == v1alpha1.ReasonCancelled {
		action.Unapproved = o.Template.State != TemplateReady || (o.needsApproval() && o.approval(0) == nil)
	}
	if f.decision != nil {
		action.Decision = decisionRef(f.decision)
	}
	action.Claim = "" // nothing was claimed
	return failed(o, action, f.reason, f.message)
}

// held closes an attempt that met another holder of its business key: it was never sent, and does not count.
func held(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	next := neverLaunched(o, action, "another submission held the business key: it was never sent")
	message := "another submission with the same business key is being carried out; this one gets its result, or its turn"
	if o.Claim.Object != nil && o.Claim.Holder == nil {
		message = "the business key is claimed by a record that was deleted; whether its effect happened is unknown: find out, then delete the claim " + action.Claim
	}
	return between(o, &next, v1alpha1.ReasonBusinessKeyHeld, message, HeldInterval)
}

// neverLaunched closes an attempt that certainly was not sent, and does not count.
func neverLaunched(o *Observation, action *v1alpha1.Action, why string) v1alpha1.Action {
	if !action.Attempt.Open() {
		return *action.DeepCopy()
	}
	next := closed(o, action, v1alpha1.OutcomeNotApplied, why)
	return between(o, &next, goingOn(&next), why, 0)
}

// verifiedNot settles an action: no attempt had an effect.
func verifiedNot(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	next := closed(o, action, v1alpha1.OutcomeNotApplied, "verified after its settling time: it had no effect")
	next.Unsettled, next.Checks = false, 0
	next.Tries++
	return next
}

// orphaned closes an attempt whose process is gone: it may have had its effect.
func orphaned(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	why := "the operator process that carried it out is gone; it may have been applied"
	next := doubted(o, action, why)
	return between(o, &next, v1alpha1.ReasonVerifying, why, 0)
}

// stuck closes an attempt that its receiver took on and did not finish in time.
func stuck(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	why := fmt.Sprintf("the receiver accepted it and did not finish within recovery.stuckAfter, which is %s", recovery(o).StuckAfter.Duration)
	next := doubted(o, action, why)
	return between(o, &next, v1alpha1.ReasonVerifying, why, 0)
}

// asking waits for a person.
func asking(o *Observation, action *v1alpha1.Action, why string) v1alpha1.Action {
	next := *action.DeepCopy()
	next.Reason, next.NextAt = v1alpha1.ReasonOutcomeUnknown, nil
	next.Message = cut(fmt.Sprintf("it may have been applied, and nobody can tell: %s; look at the receiver, then make a TaskDecision "+
		"for attempt %d with action ConfirmApplied, or with ConfirmNotApplied, after which Retry may follow; what was heard last: %s",
		why, action.Attempt.Number, action.Message), maxMessage)
	return o.signed(next)
}

// unsettledFromStatus stores an action that only its status remembers.
func unsettledFromStatus(o *Observation) v1alpha1.Action {
	action := newAction(o)
	number := max(o.Submission.Status.Attempts, 1)
	action.Attempt = v1alpha1.Attempt{Number: number, Outcome: v1alpha1.OutcomeUnknown, Timeout: metav1.Duration{Duration: o.Template.Timeout},
		Message: "only the status of the submission speaks of it"}
	action.StartedAt = o.Submission.Status.StartedAt
	if action.StartedAt == nil {
		action.StartedAt = &o.Submission.CreationTimestamp
	}
	action.Unsettled = true
	return between(o, action, v1alpha1.ReasonVerifying, "its record is gone, and its status says that it was begun: it may have been applied", 0)
}

// unsettledFromBackup makes a restored action one that may have gone on after the backup.
func unsettledFromBackup(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	why := "its record was restored from a backup; what happened after the backup may have been applied"
	next := *action.DeepCopy()
	if next.Attempt.Number == 0 {
		next.Attempt.Number = 1
	}
	next.Attempt.Outcome, next.Attempt.Message = v1alpha1.OutcomeUnknown, why
	next.Attempt.Job = 0 // which one it has named since is not known
	next.Unsettled = true
	return between(o, &next, v1alpha1.ReasonVerifying, why, 0)
}

// late stores a report that changes nothing any more, for whoever reads the history.
func late(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	next := *action.DeepCopy()
	next.History = append(next.History, v1alpha1.Attempt{
		Number: o.Flight.Attempt, Executor: o.Executor, Outcome: o.Flight.Report.Outcome,
		Message: cut("a late report: "+o.Flight.Report.Message, maxAttemptMessage),
	})
	if extra := len(next.History) - maxHistory; extra > 0 {
		next.History = next.History[extra:]
	}
	return o.signed(next)
}

// leftAlone gives an action whose submission is gone, and of which nothing is in doubt, a time to end.
func leftAlone(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	next := *action.DeepCopy()
	next.NextAt, next.ExpiresAt = nil, o.expiry()
	next.Message = cut(aloneMessage+action.Message, maxMessage)
	return o.signed(next)
}

const aloneMessage = "its submission is gone; it goes on when that is applied again. "

// resumed takes that back, now that the submission was applied again.
func resumed(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	return between(o, action, action.Reason, strings.TrimPrefix(action.Message, aloneMessage), 0)
}

// renewed keeps a record that is still asked for.
func renewed(o *Observation, action *v1alpha1.Action) v1alpha1.Action {
	next := *action.DeepCopy()
	next.ExpiresAt = o.expiry()
	return o.signed(next)
}

// signed is what each write has beside its transition: from the second one on the record's own UID, and on whose behalf the
// action is, where that is still known of a record that an operator, or kinds, of an earlier version wrote.
func (o *Observation) signed(action v1alpha1.Action) v1alpha1.Action {
	action.UID = ""
	if o.Record.Object != nil {
		action.UID = o.Record.Object.UID
	}
	if action.OnBehalfOf == "" && o.Submission != nil && o.Submission.UID == action.Submission.UID {
		action.OnBehalfOf = cut(o.onBehalfOf(), maxMessage)
	}
	return action
}

func (o *Observation) keepsRecords() bool {
	return o.Template.Spec != nil && o.Template.Spec.Retention.Policy == v1alpha1.RetentionKeep
}

func (o *Observation) recordTTL() time.Duration {
	if o.Template.Spec == nil {
		return defaultRecordTTL
	}
	return o.Template.Spec.Retention.RecordTTL.Duration
}

func (o *Observation) expiry() *metav1.Time {
	if o.keepsRecords() {
		return nil
	}
	// Rounded up: a time to live of one second must not be over at once.
	return second(o.Now.Add(o.recordTTL() + time.Second - time.Nanosecond))
}

func (o *Observation) halfExpired(action *v1alpha1.Action) bool {
	return action.ExpiresAt.Sub(o.Now) < o.recordTTL()/2
}

func jsonOf(raw json.RawMessage) *apiextensionsv1.JSON {
	if len(raw) == 0 {
		return nil
	}
	return &apiextensionsv1.JSON{Raw: raw}
}

// cut shortens a message to a number of bytes, at the end of a letter.
func cut(message string, limit int) string {
	if len(message) <= limit {
		return message
	}
	end := limit - len("…")
	for end > 0 && !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + "…"
}

// second returns a time as the API server stores it. What is finer would be lost there, and then differ from what is
// remembered here.
func second(at time.Time) *metav1.Time { return &metav1.Time{Time: at.Truncate(time.Second)} }

// microsecond is second for an attempt's own times.
func microsecond(at time.Time) *metav1.MicroTime {
	return &metav1.MicroTime{Time: at.Truncate(time.Microsecond)}
}
