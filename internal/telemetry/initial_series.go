package telemetry

import "github.com/taskonce/taskonce/api/v1alpha1"

// ends are the phases and reasons in which a submission with an existing template may end.
var ends = map[v1alpha1.Phase][]v1alpha1.Reason{
	v1alpha1.PhaseSuccess: {
		v1alpha1.ReasonApplied, v1alpha1.ReasonAlreadyApplied, v1alpha1.ReasonVerifiedApplied, v1alpha1.ReasonConfirmedApplied,
	},
	v1alpha1.PhaseFailed: {
		v1alpha1.ReasonInvalidName, v1alpha1.ReasonInvalidParameters, v1alpha1.ReasonKeyMismatch, v1alpha1.ReasonKeyReused,
		v1alpha1.ReasonBusinessKeyConflict, v1alpha1.ReasonRejected, v1alpha1.ReasonRetriesExhausted, v1alpha1.ReasonTooLate,
		v1alpha1.ReasonCancelled, v1alpha1.ReasonConfirmedNotApplied,
	},
}

// ShowTemplate shows what is counted of a template from now on, at zero. What Prometheus takes for an increase lies
// between two samples: a series that began with its first event would hide it, and the first one is what an alert is for.
func ShowTemplate(name, effect string) {
	for phase, reasons := range ends {
		for _, reason := range reasons {
			finished.WithLabelValues(name, string(phase), string(reason))
		}
		replayed.WithLabelValues(name, string(phase))
		submissionDuration.WithLabelValues(name, string(phase))
	}
	for _, found := range []string{"pending", "processing", "success", "failed", "mismatch"} {
		Duplicates.WithLabelValues(name, found)
	}
	for _, result := range []string{"VerifiedApplied", "VerifiedNotApplied", "AppliedByRepeat", "AskedPerson", "ConfirmedApplied", "ConfirmedNotApplied"} {
		recoveries.WithLabelValues(name, result)
	}
	for _, outcome := range []string{string(v1alpha1.OutcomeApplied), string(v1alpha1.OutcomeNotApplied), string(v1alpha1.OutcomeUnknown)} {
		attempts.WithLabelValues(name, effect, outcome)
		effectDuration.WithLabelValues(name, effect, outcome)
	}
	attempts.WithLabelValues(name, effect, neverSent)
	begun.WithLabelValues(name, effect)
	conflicts.WithLabelValues(name)
	queueDuration.WithLabelValues(name)
}
