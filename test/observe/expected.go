package main

import (
	"strconv"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

const (
	template = "template"
	phase    = "phase"
	reason   = "reason"
	effect   = "effect"
	outcome  = "outcome"
	found    = "found"
	result   = "result"
)

// counters are what every counter of the operator's must say, and every histogram's count.
func (f *facts) counters() map[string]expectation {
	all := map[string]expectation{
		"taskonce_sweep_failures_total": {}, "taskonce_audit_errors_total": {}, "taskonce_events_dropped_total": {},
		"taskonce_duplicates_total": f.duplicates(), "taskonce_recoveries_total": f.recoveries(),
	}
	finished, replayed, conflicts := expectation{}, expectation{}, expectation{}
	begun, attempts := expectation{}, expectation{}
	for i := range f.submissions {
		s := &f.submissions[i]
		of, status := s.Spec.TemplateRef.Name, &s.Status
		calls, outcomes := f.of(ledger.Call, s.Name), f.outcomes(s.Name)
		begun.add(float64(len(calls)), template, of, effect, "http")
		for _, came := range outcomes {
			attempts.add(1, template, of, effect, "http", outcome, string(came))
		}
		if status.Phase.Terminal() {
			finished.add(1, template, of, phase, string(status.Phase), reason, string(status.Reason))
		}
		if status.Reason == v1alpha1.ReasonAlreadyApplied || status.Reason == v1alpha1.ReasonBusinessKeyConflict {
			conflicts.add(1, template, of)
			begun.add(1, template, of, effect, "http")
			attempts.add(1, template, of, effect, "http", outcome, "NeverSent")
		}
		replayed.add(f.has(func(c sent) bool { return c.key == s.Name && c.again }), template, of, phase, string(status.Phase))
	}
	all["taskonce_submissions_finished_total"], all["taskonce_submissions_replayed_total"] = finished, replayed
	all["taskonce_business_key_conflicts_total"] = conflicts
	all["taskonce_attempts_begun_total"], all["taskonce_attempts_total"] = begun, attempts
	all["taskonce_submission_duration_seconds_count"] = finished.by(template, phase)
	all["taskonce_queue_duration_seconds_count"] = begun.by(template)
	all["taskonce_effect_duration_seconds_count"] = without(attempts, outcome, "NeverSent")
	return all
}

// duplicates are those that were sent one after another, so that each client knows what it found. Nobody knows that of the
// race.
func (f *facts) duplicates() expectation {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := expectation{}
	for _, s := range f.sent {
		if s.found != "" {
			all.add(1, template, s.template, found, s.found)
		}
	}
	return all
}

// recoveries are what became of calls whose answer was lost.
func (f *facts) recoveries() expectation {
	all := expectation{}
	for i := range f.submissions {
		of, name := f.submissions[i].Spec.TemplateRef.Name, f.submissions[i].Name
		calls := f.of(ledger.Call, name)
		switch {
		case of == "charge" && len(f.of(ledger.Check, name)) > 0:
			all.add(1, template, of, result, "VerifiedApplied")
		case of == "letter" && len(calls) > 0:
			all.add(1, template, of, result, "AskedPerson")
		case of == "repeat" && len(calls) > 2:
			all.add(1, template, of, result, "AppliedByRepeat")
		}
	}
	for _, decision := range f.decisions {
		switch decision.Action {
		case v1alpha1.DecisionConfirmApplied:
			all.add(1, template, "letter", result, "ConfirmedApplied")
		case v1alpha1.DecisionConfirmNotApplied:
			all.add(1, template, "letter", result, "ConfirmedNotApplied")
		}
	}
	return all
}

// gauges are what every gauge of the operator's must say that does not change with time.
func (f *facts) gauges() map[string]expectation {
	all := map[string]expectation{
		"taskonce_submissions": {}, "taskonce_submissions_awaiting_decision": {},
		"taskonce_attempts_queued": {}, "taskonce_attempts_in_flight": {}, "taskonce_attempts_in_flight_limit": {},
		"taskonce_template_ready": {}, "taskonce_receiver_healthy": {}, "taskonce_max_in_flight": {"": 512},
		"taskonce_webhook_certificate_not_before_timestamp_seconds": {"": float64(f.certificate.NotBefore.Unix())},
		"taskonce_webhook_certificate_not_after_timestamp_seconds":  {"": float64(f.certificate.NotAfter.Unix())},
	}
	for i := range f.submissions {
		f.addStanding(all, &f.submissions[i])
	}
	for i := range f.templates {
		addTemplate(all, &f.templates[i])
	}
	return all
}

// addStanding adds a submission that has not finished.
func (f *facts) addStanding(all map[string]expectation, s *v1alpha1.TaskSubmission) {
	of, status := s.Spec.TemplateRef.Name, &s.Status
	if status.Phase.Terminal() {
		return
	}
	all["taskonce_submissions"].add(1, template, of, phase, string(status.Phase), reason, string(status.Reason))
	switch status.Reason {
	case v1alpha1.ReasonOutcomeUnknown, v1alpha1.ReasonAwaitingApproval:
		all["taskonce_submissions_awaiting_decision"].add(1, template, of, reason, string(status.Reason))
	case v1alpha1.ReasonLimitReached:
		all["taskonce_attempts_queued"].add(1, template, of)
	}
	if open := len(f.of(ledger.Call, s.Name)) - len(f.outcomes(s.Name)); open > 0 {
		all["taskonce_attempts_in_flight"].add(float64(open), template, of)
	}
}

// addTemplate adds what a template says of itself.
func addTemplate(all map[string]expectation, t *v1alpha1.TaskTemplate) {
	all["taskonce_attempts_in_flight_limit"].add(float64(t.Spec.Limits.MaxInFlight), template, t.Name)
	names := map[string]string{v1alpha1.ConditionReady: "taskonce_template_ready", v1alpha1.ConditionReceiverHealthy: "taskonce_receiver_healthy"}
	for _, condition := range t.Status.Conditions {
		if name := names[condition.Type]; name != "" && condition.Status == "True" {
			all[name].add(1, template, t.Name)
		}
	}
}

// failing are the templates of whose attempts more than half were refused or not answered.
func (f *facts) failing() (all []string) {
	heard, bad := map[string]float64{}, map[string]float64{}
	for id, n := range f.counters()["taskonce_attempts_total"] {
		labels := labelsOf(id)
		switch labels[outcome] {
		case "NotApplied", "Unknown":
			bad[labels[template]] += n
			fallthrough
		case "Applied":
			heard[labels[template]] += n
		}
	}
	for name, n := range bad {
		if n/heard[name] > 0.5 {
			all = append(all, name)
		}
	}
	return all
}

func without(e expectation, label, value string) expectation {
	kept := expectation{}
	for id, n := range e {
		if labelsOf(id)[label] != value {
			kept[id] = n
		}
	}
	return kept
}

func number(text string) float64 {
	n, _ := strconv.ParseFloat(text, 64) // a label that Prometheus writes
	return n
}
