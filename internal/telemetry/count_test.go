package telemetry

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// action makes a journal: phase/reason, the attempt's number and outcome.
func action(phase v1alpha1.Phase, reason v1alpha1.Reason, number int32, outcome v1alpha1.Outcome, unsettled bool) *v1alpha1.Action {
	return &v1alpha1.Action{Phase: phase, Reason: reason, Attempt: v1alpha1.Attempt{Number: number, Outcome: outcome}, Unsettled: unsettled}
}

func TestWhatAWrittenRecordCounts(t *testing.T) {
	const processing, success, failed = v1alpha1.PhaseProcessing, v1alpha1.PhaseSuccess, v1alpha1.PhaseFailed
	const applied, notApplied, inProgress, unknown = v1alpha1.OutcomeApplied, v1alpha1.OutcomeNotApplied, v1alpha1.OutcomeInProgress, v1alpha1.OutcomeUnknown
	open := action(processing, v1alpha1.ReasonExecuting, 1, "", false)
	doubtful := action(processing, v1alpha1.ReasonVerifying, 1, unknown, true)
	asked := action(processing, v1alpha1.ReasonOutcomeUnknown, 1, unknown, true)
	running := action(processing, v1alpha1.ReasonInProgress, 1, inProgress, true)
	for i, c := range []struct {
		reason        string
		before, after *v1alpha1.Action
		ran           bool
		want          string
	}{
		{"a begin", nil, open, false, "begun"},
		{"the next begin", action(processing, v1alpha1.ReasonRetrying, 1, notApplied, false), action(processing, v1alpha1.ReasonExecuting, 2, "", false), false, "begun"},
		{"a verdict before any attempt", nil, action(failed, v1alpha1.ReasonTooLate, 0, "", false), false, "finished Failed/TooLate"},
		{"it was applied", open, action(success, v1alpha1.ReasonApplied, 1, applied, false), true, "attempt Applied; finished Success/Applied"},
		{"it was refused for good", open, action(failed, v1alpha1.ReasonRejected, 1, notApplied, false), true, "attempt NotApplied; finished Failed/Rejected"},
		{"it is tried again", open, action(processing, v1alpha1.ReasonRetrying, 1, notApplied, false), true, "attempt NotApplied"},
		{"it was never sent", open, action(processing, v1alpha1.ReasonRetrying, 1, notApplied, false), false, "attempt NeverSent"},
		{"no answer", open, doubtful, true, "attempt Unknown"},
		{"an orphan", open, doubtful, false, "attempt Unknown"},
		{"the receiver took it on", open, running, true, ""},
		{"it goes on", running, running, true, ""},
		{"what was taken on is done", running, action(success, v1alpha1.ReasonApplied, 1, applied, false), true, "attempt Applied; finished Success/Applied"},
		{"what was taken on is stuck", running, doubtful, false, "attempt Unknown"},
		{"what was taken on failed", running, action(processing, v1alpha1.ReasonRetrying, 1, notApplied, false), true, "attempt NotApplied"},
		{"another check", doubtful, doubtful, true, ""},
		{"verified: it happened", doubtful, action(success, v1alpha1.ReasonVerifiedApplied, 1, applied, false), true, "finished Success/VerifiedApplied; recovery VerifiedApplied"},
		{"verified: it did not", doubtful, action(processing, v1alpha1.ReasonRetrying, 1, notApplied, false), true, "recovery VerifiedNotApplied"},
		{"sent again", doubtful, action(processing, v1alpha1.ReasonExecuting, 2, "", true), false, "begun"},
		{"sent again, and applied", action(processing, v1alpha1.ReasonExecuting, 2, "", true), action(success, v1alpha1.ReasonApplied, 2, applied, false), true, "attempt Applied; finished Success/Applied; recovery AppliedByRepeat"},
		{"nobody can tell", doubtful, asked, false, "recovery AskedPerson"},
		{"no answer, and nobody can tell", open, asked, true, "attempt Unknown; recovery AskedPerson"},
		{"a person says that it happened", asked, action(success, v1alpha1.ReasonConfirmedApplied, 1, applied, false), false, "finished Success/ConfirmedApplied; recovery ConfirmedApplied"},
		{"a person says that it did not", asked, action(failed, v1alpha1.ReasonConfirmedNotApplied, 1, notApplied, false), false, "finished Failed/ConfirmedNotApplied; recovery ConfirmedNotApplied"},
		{"it meets a holder", open, action(processing, v1alpha1.ReasonBusinessKeyHeld, 1, notApplied, false), false, "attempt NeverSent; conflict"},
		{"it gets the first result later", action(processing, v1alpha1.ReasonBusinessKeyHeld, 1, notApplied, false), action(success, v1alpha1.ReasonAlreadyApplied, 1, notApplied, false), false, "finished Success/AlreadyApplied"},
		{"it gets the first result at once", open, action(success, v1alpha1.ReasonAlreadyApplied, 1, notApplied, false), false, "attempt NeverSent; conflict; finished Success/AlreadyApplied"},
		{"it is refused for its business key", open, action(failed, v1alpha1.ReasonBusinessKeyConflict, 1, notApplied, false), false, "attempt NeverSent; conflict; finished Failed/BusinessKeyConflict"},
		{"a Retry opens it", action(failed, v1alpha1.ReasonRejected, 1, notApplied, false), action(processing, v1alpha1.ReasonRetrying, 1, notApplied, false), false, ""},
		{"its expiry is renewed", action(success, v1alpha1.ReasonApplied, 1, applied, false), action(success, v1alpha1.ReasonApplied, 1, applied, false), false, ""},
	} {
		template := fmt.Sprintf("stored-%d", i)
		Metrics{}.Observe(&Transition{Kind: Stored, TemplateLabel: template, Effect: "http", Before: c.before, After: c.after, Ran: c.ran})
		if got := counted(t, template); got != c.want {
			t.Errorf("%s: counted %q; want %q", c.reason, got, c.want)
		}
	}
}

func TestWhatAWrittenStatusCounts(t *testing.T) {
	submission := &v1alpha1.TaskSubmission{}
	submission.UID = "mine"
	recordOf := func(uid string) *v1alpha1.TaskRecord {
		record := &v1alpha1.TaskRecord{}
		record.Spec.Key = "k"
		record.Spec.Action = &v1alpha1.Action{}
		record.Spec.Action.Submission.UID = "mine"
		if uid != "" {
			record.Spec.Action.Submission.UID = "another"
		}
		return record
	}
	pending, ended := State{v1alpha1.PhasePending, v1alpha1.ReasonAccepted}, State{v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied}
	for i, c := range []struct {
		reason string
		t      Transition
		want   string
	}{
		{"the end that its record has told", Transition{Echo: true, Record: recordOf(""), From: pending, To: ended}, "duration Success"},
		{"a verdict on the input", Transition{From: pending, To: State{v1alpha1.PhaseFailed, v1alpha1.ReasonInvalidParameters}}, "duration Failed; finished Failed/InvalidParameters"},
		{"the key of another action", Transition{Record: recordOf("another"), From: pending, To: State{v1alpha1.PhaseFailed, v1alpha1.ReasonKeyReused}}, "duration Failed; finished Failed/KeyReused"},
		{"a replay", Transition{Record: recordOf("another"), From: pending, To: ended}, "replay Success"},
		{"what waits", Transition{From: pending, To: State{v1alpha1.PhasePending, v1alpha1.ReasonAwaitingApproval}}, ""},
		{"one end after another", Transition{From: State{v1alpha1.PhaseFailed, v1alpha1.ReasonInvalidParameters}, To: ended}, ""},
	} {
		template := fmt.Sprintf("projected-%d", i)
		c.t.Kind, c.t.TemplateLabel, c.t.Submission, c.t.Key = Projected, template, submission, "k"
		Metrics{}.Observe(&c.t)
		if got := counted(t, template); got != c.want {
			t.Errorf("%s: counted %q; want %q", c.reason, got, c.want)
		}
	}
}

// counted tells what was counted of a template.
func counted(t *testing.T, template string) string {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := labelsOf(metric)
			n := metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
			if labels["template"] != template || n == 0 {
				continue
			}
			if n != 1 {
				t.Errorf("%s of %s is %v", family.GetName(), template, n)
			}
			all = append(all, strings.TrimSpace(words[family.GetName()]+" "+
				strings.Trim(labels["phase"]+"/"+labels["reason"], "/")+labels["outcome"]+labels["result"]))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

var words = map[string]string{
	"taskonce_submissions_finished_total":   "finished",
	"taskonce_submissions_replayed_total":   "replay",
	"taskonce_submission_duration_seconds":  "duration",
	"taskonce_business_key_conflicts_total": "conflict",
	"taskonce_attempts_begun_total":         "begun",
	"taskonce_attempts_total":               "attempt",
	"taskonce_recoveries_total":             "recovery",
}

func labelsOf(metric *dto.Metric) map[string]string {
	labels := map[string]string{}
	for _, label := range metric.GetLabel() {
		labels[label.GetName()] = label.GetValue()
	}
	return labels
}
