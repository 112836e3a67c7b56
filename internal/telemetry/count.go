package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/telemetry/tracing"
)

// atCrash is what every counter of transitions has in common.
const atCrash = " Counted after the write was acknowledged: of what a killed process was writing at that moment one may be missing."

var (
	finished = counter("taskonce_submissions_finished_total",
		"Submissions that came to their end, by phase and reason; one that a Retry opens again ends again. Replays are not among them. "+
			"Failed with RetriesExhausted or Rejected: look at the receiver. InvalidParameters, KeyMismatch or KeyReused: look at the client."+atCrash,
		labelTemplate, "phase", "reason")

	replayed = counter("taskonce_submissions_replayed_total",
		"Submissions that got the outcome of an earlier one of the same key, which had been deleted: nothing was sent. "+
			"Many of them: something deletes submissions and applies them again, such as GitOps."+atCrash,
		labelTemplate, "phase")

	conflicts = counter("taskonce_business_key_conflicts_total",
		"Times that a submission met a business key which another submission of its template holds or has applied. "+
			"Many of them: several clients act on the same thing under keys of their own; look at who makes the keys."+atCrash,
		labelTemplate)

	begun = counter("taskonce_attempts_begun_total",
		"Attempts that were stored, which is before anything is sent. What is not among taskonce_attempts_total yet runs, or was lost with its process."+atCrash,
		labelTemplate, "effect")

	attempts = counter("taskonce_attempts_total",
		"Attempts that came to an outcome: Applied, NotApplied, Unknown, or NeverSent, where something else was found before it was sent. "+
			"What the receiver has taken on and not finished (202, a Job that runs) is counted at its end. "+
			"NotApplied: the receiver refuses or cannot be reached. Unknown: it does not answer in time, or the operator was killed; see taskonce_recoveries_total."+atCrash,
		labelTemplate, "effect", "outcome")

	recoveries = counter("taskonce_recoveries_total",
		"What became of outcomes that were unknown. VerifiedApplied, VerifiedNotApplied: the receiver was asked. AppliedByRepeat: it was sent again, which was safe. "+
			"AskedPerson: nobody but a person can tell; see kubectl taskonce inbox, then ConfirmedApplied and ConfirmedNotApplied follow. "+
			"Many of AskedPerson: give the template a verification."+atCrash,
		labelTemplate, "result")
)

// neverSent is the outcome of an attempt that was stored and given up before it was sent.
const neverSent = "NeverSent"

// Metrics counts transitions.
type Metrics struct{}

// Observe implements Observer.
func (Metrics) Observe(t *Transition) {
	switch t.Kind {
	case Stored:
		countStored(t)
	case Projected:
		countProjected(t)
	}
}

func countStored(t *Transition) {
	template, before, after := t.TemplateLabel, t.Before, t.After
	if before == nil {
		before = &v1alpha1.Action{}
	}
	if after.Attempt.Number > before.Attempt.Number && after.Attempt.Open() {
		begun.WithLabelValues(template, t.Effect).Inc()
	}
	if outcome := t.attemptOutcome(); outcome != "" {
		attempts.WithLabelValues(template, t.Effect, outcome).Inc()
	}
	if meetsHolder(before, after) {
		conflicts.WithLabelValues(template).Inc()
	}
	if result := recovery(before, after); result != "" {
		recoveries.WithLabelValues(template, result).Inc()
	}
	if after.Phase.Terminal() && !before.Phase.Terminal() {
		finished.WithLabelValues(template, string(after.Phase), string(after.Reason)).Inc()
	}
}

// attemptOutcome returns what the attempt came to that was under way before, or nothing.
func (t *Transition) attemptOutcome() string {
	before, after := t.Before, t.After
	if before == nil || before.Attempt.Number == 0 || before.Attempt.Number != after.Attempt.Number || !underWay(&before.Attempt) || underWay(&after.Attempt) {
		return ""
	}
	if after.Attempt.Outcome == v1alpha1.OutcomeNotApplied && before.Attempt.Open() && !t.Ran {
		return neverSent
	}
	return string(after.Attempt.Outcome)
}

func underWay(attempt *v1alpha1.Attempt) bool {
	return attempt.Outcome == "" || attempt.Outcome == v1alpha1.OutcomeInProgress
}

func meetsHolder(before, after *v1alpha1.Action) bool {
	if before.Reason == v1alpha1.ReasonBusinessKeyHeld || before.Reason == after.Reason {
		return false // it was counted when it met the holder
	}
	switch after.Reason {
	case v1alpha1.ReasonBusinessKeyHeld, v1alpha1.ReasonAlreadyApplied, v1alpha1.ReasonBusinessKeyConflict:
		return true
	}
	return false
}

// recovery returns what became of an outcome that was unknown, or nothing.
func recovery(before, after *v1alpha1.Action) string {
	asked := after.Reason == v1alpha1.ReasonOutcomeUnknown && before.Reason != v1alpha1.ReasonOutcomeUnknown
	switch {
	case asked:
		return "AskedPerson"
	case !inDoubt(before) || after.Unsettled:
		return ""
	case after.Phase != v1alpha1.PhaseSuccess && after.Phase != v1alpha1.PhaseFailed:
		return "VerifiedNotApplied"
	}
	switch after.Reason {
	case v1alpha1.ReasonVerifiedApplied, v1alpha1.ReasonConfirmedApplied, v1alpha1.ReasonConfirmedNotApplied:
		return string(after.Reason)
	case v1alpha1.ReasonApplied:
		return "AppliedByRepeat"
	default:
		return "VerifiedNotApplied"
	}
}

// inDoubt reports whether an attempt may have had its effect and nobody knows. What a receiver has taken on and not
// finished is unsettled, and not in doubt.
func inDoubt(action *v1alpha1.Action) bool {
	return action.Unsettled && action.Attempt.Outcome != v1alpha1.OutcomeInProgress
}

func countProjected(t *Transition) {
	if !t.To.Phase.Terminal() || t.From.Phase.Terminal() {
		return
	}
	if t.Replayed() {
		replayed.WithLabelValues(t.TemplateLabel, string(t.To.Phase)).Inc()
		return
	}
	if !t.Echo {
		finished.WithLabelValues(t.TemplateLabel, string(t.To.Phase), string(t.To.Reason)).Inc()
	}
	observe(submissionDuration.WithLabelValues(t.TemplateLabel, string(t.To.Phase)), t.Time.Sub(t.Created), t.Traceparent())
}

// observe adds a duration, with the trace that it can be looked up by.
func observe(observer prometheus.Observer, took time.Duration, traceparent string) {
	seconds := max(took, 0).Seconds()
	exemplar, ok := observer.(prometheus.ExemplarObserver)
	if trace := tracing.TraceID(traceparent); ok && trace != "" {
		exemplar.ObserveWithExemplar(seconds, prometheus.Labels{"trace_id": trace})
		return
	}
	observer.Observe(seconds)
}
