package telemetry

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inflight"
	"github.com/taskonce/taskonce/internal/telemetry/tracing"
)

const aTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// touch makes a series of every metric.
func touch(t *testing.T, template string) {
	t.Helper()
	Duplicates.WithLabelValues(template, "success").Inc()
	finished.WithLabelValues(template, "Success", "Applied").Inc()
	replayed.WithLabelValues(template, "Success").Inc()
	conflicts.WithLabelValues(template).Inc()
	begun.WithLabelValues(template, "http").Inc()
	attempts.WithLabelValues(template, "http", "Applied").Inc()
	recoveries.WithLabelValues(template, "VerifiedApplied").Inc()
	observe(submissionDuration.WithLabelValues(template, "Success"), time.Second, aTrace)
	EffectTook(template, "http", v1alpha1.OutcomeApplied, time.Second, aTrace)
	Queued(template, time.Second, "")
}

func TestMetricsFollowTheConventions(t *testing.T) {
	touch(t, "linted")
	var names []string
	for _, metric := range Catalogue() {
		names = append(names, metric.Name)
	}
	problems, err := testutil.GatherAndLint(metrics.Registry, names...)
	if err != nil {
		t.Fatal(err)
	}
	of, err := testutil.CollectAndLint(standingOfAnything(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range append(problems, of...) {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "taskonce_") {
			t.Errorf("%s has another prefix than taskonce_", name)
		}
	}
}

// TestEveryMetricIsInTheCatalogue compares what is gathered with what docs/metrics.md lists.
func TestEveryMetricIsInTheCatalogue(t *testing.T) {
	touch(t, "listed")
	of := standingOfAnything(t)
	registry := prometheus.NewRegistry()
	registry.MustRegister(of)
	known := map[string]Metric{}
	for _, metric := range Catalogue() {
		known[metric.Name] = metric
	}
	seen := map[string]bool{}
	families, err := prometheus.Gatherers{metrics.Registry, registry}.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "taskonce_") {
			continue
		}
		metric := known[family.GetName()]
		seen[metric.Name] = true
		if got := strings.ToLower(family.GetType().String()); got != metric.Type || family.GetHelp() != metric.Help {
			t.Errorf("%s is a %s: %s; the catalogue says %s: %s", family.GetName(), got, family.GetHelp(), metric.Type, metric.Help)
		}
		var labels []string
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		want := slices.Sorted(slices.Values(metric.Labels))
		if !slices.Equal(labels, want) {
			t.Errorf("%s has the labels %v; the catalogue says %v", metric.Name, labels, want)
		}
	}
	for name := range known {
		if !seen[name] {
			t.Errorf("nothing was gathered of %s", name)
		}
	}
}

func TestTheSeriesOfADeletedTemplateGo(t *testing.T) {
	touch(t, "deleted")
	touch(t, "kept")
	ForgetTemplate("deleted")
	text := exposition(t)
	if strings.Contains(text, `template="deleted"`) {
		t.Error("series of a deleted template are left")
	}
	if n := strings.Count(text, `template="kept"`); n < 10 {
		t.Errorf("of another template %d series are left", n)
	}
}

func TestHistogramsCarryTraces(t *testing.T) {
	touch(t, "traced")
	found := map[string]bool{}
	for lines := bufio.NewScanner(strings.NewReader(exposition(t))); lines.Scan(); {
		line := lines.Text()
		if strings.Contains(line, `template="traced"`) && strings.Contains(line, `# {trace_id="4bf92f3577b34da6a3ce929d0e0e4736"} 1.0`) {
			name, _, _ := strings.Cut(line, "_bucket")
			found[name] = true
		}
	}
	for _, name := range []string{"taskonce_submission_duration_seconds", "taskonce_effect_duration_seconds"} {
		if !found[name] {
			t.Errorf("%s has no exemplar", name)
		}
	}
	if found["taskonce_queue_duration_seconds"] {
		t.Error("an attempt without a trace left an exemplar")
	}
}

// exposition is what a scraper gets that asks for OpenMetrics.
func exposition(t *testing.T) string {
	t.Helper()
	request := httptest.NewRequest("GET", "/metrics", http.NoBody)
	request.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(answer, request)
	return answer.Body.String()
}

func TestTraceID(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, c := range []struct{ text, want, reason string }{
		{aTrace, id, "the example of the recommendation"},
		{"00-" + id + "-00f067aa0ba902b7-00", id, "not sampled, and a trace all the same"},
		{"cc-" + id + "-00f067aa0ba902b7-01-what-is-new", id, "a later version may add to it"},
		{"", "", "none"},
		{"00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01", "", "an invalid trace"},
		{"00-" + id + "-0000000000000000-01", "", "an invalid span"},
		{"ff-" + id + "-00f067aa0ba902b7-01", "", "an invalid version"},
		{"00-" + strings.ToUpper(id) + "-00f067aa0ba902b7-01", "", "upper-case letters"},
		{"00-" + id, "", "cut"},
	} {
		if got := tracing.TraceID(c.text); got != c.want {
			t.Errorf("TraceID(%q) = %q; want %q: %s", c.text, got, c.want, c.reason)
		}
	}
}

// held is a cache that holds a few objects.
type held struct {
	client.Reader
	templates   []v1alpha1.TaskTemplate
	submissions []v1alpha1.TaskSubmission
	lists       int
}

func (h *held) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	h.lists++
	switch list := list.(type) {
	case *v1alpha1.TaskTemplateList:
		list.Items = h.templates
	case *v1alpha1.TaskSubmissionList:
		list.Items = h.submissions
	}
	return nil
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func aTemplate(namespace, name string, conditions ...metav1.Condition) v1alpha1.TaskTemplate {
	template := v1alpha1.TaskTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	template.Spec.Limits.MaxInFlight = 10
	template.Status.Conditions = conditions
	return template
}

func condition(kind string, status metav1.ConditionStatus) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status}
}

func aSubmission(template string, phase v1alpha1.Phase, reason v1alpha1.Reason, begun time.Duration) v1alpha1.TaskSubmission {
	submission := v1alpha1.TaskSubmission{}
	submission.Spec.TemplateRef.Name = template
	submission.Status.Phase, submission.Status.Reason = phase, reason
	if begun > 0 {
		submission.Status.StartedAt = &metav1.Time{Time: noon.Add(-begun)}
	}
	return submission
}

// retried had failed, and goes on since a person decided so.
func retried(submission v1alpha1.TaskSubmission, ago time.Duration) v1alpha1.TaskSubmission {
	submission.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionReconciling, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon.Add(-ago)),
	}}
	return submission
}

func closed() <-chan struct{} {
	leads := make(chan struct{})
	close(leads)
	return leads
}

func standingOfAnything(t *testing.T) *Standing {
	t.Helper()
	cache := &held{
		templates: []v1alpha1.TaskTemplate{
			aTemplate("a", "charge", condition(v1alpha1.ConditionReady, metav1.ConditionTrue), condition(v1alpha1.ConditionReceiverHealthy, metav1.ConditionTrue)),
			aTemplate("b", "charge", condition(v1alpha1.ConditionReady, metav1.ConditionFalse)),
			aTemplate("a", "mail"),
		},
		submissions: []v1alpha1.TaskSubmission{
			aSubmission("charge", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown, time.Hour),
			aSubmission("charge", v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting, time.Minute),
			retried(aSubmission("charge", v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting, 7*24*time.Hour), time.Minute),
			aSubmission("charge", v1alpha1.PhasePending, v1alpha1.ReasonAwaitingApproval, 0),
			aSubmission("charge", v1alpha1.PhasePending, "", 0),
			aSubmission("invented-1", v1alpha1.PhasePending, v1alpha1.ReasonTemplateNotFound, 0),
			aSubmission("invented-2", v1alpha1.PhasePending, v1alpha1.ReasonTemplateNotFound, 0),
		},
	}
	left := func() map[string]int { return map[string]int{"charge": 2, "deleted": 1} }
	return &Standing{Cache: cache, Left: left, MaxInFlight: 512, Clock: clocktesting.NewFakePassiveClock(noon), Leads: closed(), Usage: func() []inflight.Usage {
		return []inflight.Usage{
			{Template: types.NamespacedName{Namespace: "a", Name: "charge"}, Used: 2, Queued: 1},
			{Template: types.NamespacedName{Namespace: "b", Name: "charge"}, Used: 3, Queued: 4},
		}
	}}
}

func TestWhatStands(t *testing.T) {
	const want = `
taskonce_attempts_in_flight{template="charge"} 5
taskonce_attempts_in_flight{template="mail"} 0
taskonce_attempts_in_flight_limit{template="charge"} 20
taskonce_attempts_in_flight_limit{template="mail"} 10
taskonce_attempts_queued{template="charge"} 5
taskonce_attempts_queued{template="mail"} 0
taskonce_max_in_flight 512
taskonce_oldest_processing_age_seconds{template="charge"} 3600
taskonce_oldest_processing_age_seconds{template="mail"} 0
taskonce_oldest_processing_age_seconds{template="unknown"} 0
taskonce_receiver_healthy{template="charge"} 1
taskonce_submissions{phase="Pending",reason="Accepted",template="charge"} 1
taskonce_submissions{phase="Pending",reason="AwaitingApproval",template="charge"} 1
taskonce_submissions{phase="Pending",reason="TemplateNotFound",template="unknown"} 2
taskonce_submissions{phase="Processing",reason="Executing",template="charge"} 2
taskonce_submissions{phase="Processing",reason="OutcomeUnknown",template="charge"} 1
taskonce_submissions_awaiting_decision{reason="AwaitingApproval",template="charge"} 1
taskonce_submissions_awaiting_decision{reason="AwaitingApproval",template="mail"} 0
taskonce_submissions_awaiting_decision{reason="AwaitingApproval",template="unknown"} 0
taskonce_submissions_awaiting_decision{reason="OutcomeUnknown",template="charge"} 3
taskonce_submissions_awaiting_decision{reason="OutcomeUnknown",template="mail"} 0
taskonce_submissions_awaiting_decision{reason="OutcomeUnknown",template="unknown"} 1
taskonce_template_ready{template="charge"} 0
taskonce_template_ready{template="mail"} 1
`
	if got := samples(t, standingOfAnything(t)); got != sorted(want) {
		t.Errorf("computed:\n%s\nwant:\n%s", got, want)
	}
}

func TestAStandbyTellsOfItselfOnly(t *testing.T) {
	standby := standingOfAnything(t)
	standby.Leads = make(chan struct{})
	const want = `
taskonce_attempts_in_flight{template="charge"} 5
taskonce_attempts_in_flight{template="mail"} 0
taskonce_attempts_in_flight_limit{template="charge"} 20
taskonce_attempts_in_flight_limit{template="mail"} 10
taskonce_attempts_queued{template="charge"} 5
taskonce_attempts_queued{template="mail"} 0
taskonce_max_in_flight 512
`
	if got := samples(t, standby); got != sorted(want) {
		t.Errorf("computed:\n%s\nwant:\n%s", got, want)
	}
}

func TestScrapingOftenReadsTheCacheOnce(t *testing.T) {
	of := standingOfAnything(t)
	clock, cache := clocktesting.NewFakePassiveClock(noon), of.Cache.(*held)
	of.Clock = clock
	for _, c := range []struct {
		at   time.Duration
		want int
	}{{0, 2}, {keptFor - 1, 2}, {keptFor, 4}} {
		clock.SetTime(noon.Add(c.at))
		if samples(t, of); cache.lists != c.want {
			t.Errorf("after %s the cache was read %d times; want %d", c.at, cache.lists, c.want)
		}
	}
}

// samples are the samples of a collector, sorted, one a line.
func samples(t *testing.T, collector prometheus.Collector) string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collector)
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", http.NoBody))
	var all []string
	for line := range strings.Lines(answer.Body.String()) {
		if !strings.HasPrefix(line, "#") {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return sorted(strings.Join(all, "\n"))
}

func sorted(lines string) string {
	return strings.Join(slices.Sorted(strings.SplitSeq(strings.TrimSpace(lines), "\n")), "\n")
}
