package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inflight"
)

const fromLeader = " Told by the replica that leads."

var (
	submissionsNow = computed("taskonce_submissions",
		"Submissions that have not finished, by phase and reason. What each reason waits for, and what to do, is in docs/operations.md."+fromLeader,
		labelTemplate, "phase", "reason")

	awaitingNow = computed("taskonce_submissions_awaiting_decision",
		"Submissions that wait for a person: AwaitingApproval or OutcomeUnknown; of the latter also those that were deleted, as the last sweep found them. kubectl taskonce inbox lists them, and what else may need a person."+fromLeader,
		labelTemplate, "reason")

	oldestNow = computed("taskonce_oldest_processing_age_seconds",
		"For how long the submission has been Processing, or gone on after a decision, that was begun first. If it grows, look at that one: kubectl get tasksubmissions --field-selector=status.phase=Processing."+fromLeader,
		labelTemplate)

	inFlightNow = computed("taskonce_attempts_in_flight",
		"Attempts and checks that have a place in this process, and Jobs that run. At taskonce_attempts_in_flight_limit nothing more begins.", labelTemplate)

	limitNow = computed("taskonce_attempts_in_flight_limit",
		"limits.maxInFlight of the templates of that name, in all: for each process.", labelTemplate)

	queuedNow = computed("taskonce_attempts_queued",
		"Attempts and checks that wait in this process for a place. If it does not fall, raise limits.maxInFlight, where the receiver can take more, or --max-in-flight.", labelTemplate)

	capacityNow = computed("taskonce_max_in_flight",
		"How many attempts and checks this process lets run at once, over all templates: --max-in-flight.")

	readyNow = computed("taskonce_template_ready",
		"1: the template compiles, in each namespace that has one of that name; 0: one does not, and nothing begins with it. kubectl get tasktemplates -A -o wide says why."+fromLeader,
		labelTemplate)

	healthyNow = computed("taskonce_receiver_healthy",
		"1: the receiver accepts the credentials of the templates of that name; 0: one refuses them (401, 403, 407), and nothing begins with it: correct the Secrets that the template names. "+
			"There is none before a receiver has answered."+fromLeader,
		labelTemplate)
)

// Standing computes at each scrape what stands at the moment. It reads the cache, and nothing live.
type Standing struct {
	// Cache holds templates, and the submissions that have not finished.
	Cache client.Reader
	// Usage is what the in-flight table knows, MaxInFlight its limit.
	Usage       func() []inflight.Usage
	MaxInFlight int
	// Left is how many actions wait for a person although their submission is gone, by template.
	Left  func() map[string]int
	Clock clock.PassiveClock
	// Leads is closed when this replica leads.
	Leads <-chan struct{}

	mu      sync.Mutex
	at      time.Time
	metrics []prometheus.Metric
}

// keptFor is for how long what was computed answers the next scrape, too: scraping often costs nothing.
const keptFor = 2 * time.Second

// patience is how long a scrape waits for a cache that is not filled yet.
const patience = time.Second

// Describe implements prometheus.Collector.
func (s *Standing) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{submissionsNow, awaitingNow, oldestNow, inFlightNow, limitNow, queuedNow, capacityNow, readyNow, healthyNow} {
		descs <- desc
	}
}

// Collect implements prometheus.Collector.
func (s *Standing) Collect(metrics chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.Clock.Now(); s.metrics == nil || now.Sub(s.at) >= keptFor || now.Before(s.at) {
		s.metrics, s.at = s.compute(now), now
	}
	for _, metric := range s.metrics {
		metrics <- metric
	}
}

func (s *Standing) compute(now time.Time) []prometheus.Metric {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	templates := &v1alpha1.TaskTemplateList{}
	if !s.list(ctx, templates) {
		return nil
	}
	c := newCensus(templates.Items)
	for _, usage := range s.Usage() {
		c.use(usage)
	}
	all := append(c.ofProcess(), prometheus.MustNewConstMetric(capacityNow, prometheus.GaugeValue, float64(s.MaxInFlight)))
	if submissions := (&v1alpha1.TaskSubmissionList{}); s.leads() && s.list(ctx, submissions) {
		for i := range submissions.Items {
			c.count(&submissions.Items[i], now)
		}
		for template, n := range s.Left() {
			c.of(template).left += n
		}
		all = append(all, c.ofLeader()...)
	}
	return all
}

// list reads the cache. What it holds is neither changed nor kept here, so it need not be copied.
func (s *Standing) list(ctx context.Context, list client.ObjectList) bool {
	err := s.Cache.List(ctx, list, client.UnsafeDisableDeepCopy)
	if err != nil {
		logf.Log.Error(err, "computing metrics; the next scrape tries again")
	}
	return err == nil
}

func (s *Standing) leads() bool {
	select {
	case <-s.Leads:
		return true
	default:
		return false
	}
}

// census adds up by the names of templates.
type census struct {
	templates map[string]*tally
}

// tally is what is known of the templates of one name.
type tally struct {
	standing              map[State]int
	oldest                time.Duration
	limit, used, queueing int
	left                  int
	broken, refused       bool
	heard, exists         bool
}

func newCensus(templates []v1alpha1.TaskTemplate) *census {
	c := &census{templates: map[string]*tally{}}
	for i := range templates {
		template := &templates[i]
		of := c.templates[template.Name]
		if of == nil {
			of = &tally{exists: true, standing: map[State]int{}}
			c.templates[template.Name] = of
		}
		of.limit += int(template.Spec.Limits.MaxInFlight)
		of.broken = of.broken || meta.IsStatusConditionFalse(template.Status.Conditions, v1alpha1.ConditionReady)
		if healthy := meta.FindStatusCondition(template.Status.Conditions, v1alpha1.ConditionReceiverHealthy); healthy != nil {
			of.heard = true
			of.refused = of.refused || meta.IsStatusConditionFalse(template.Status.Conditions, v1alpha1.ConditionReceiverHealthy)
		}
	}
	return c
}

// of returns the tally of a template's name; names of which there is no template share one.
func (c *census) of(name string) *tally {
	if found := c.templates[name]; found != nil {
		return found
	}
	if c.templates[UnknownTemplate] == nil {
		c.templates[UnknownTemplate] = &tally{standing: map[State]int{}}
	}
	return c.templates[UnknownTemplate]
}

func (c *census) use(usage inflight.Usage) {
	of := c.of(usage.Template.Name)
	of.used += usage.Used
	of.queueing += usage.Queued
}

func (c *census) count(submission *v1alpha1.TaskSubmission, now time.Time) {
	of, status := c.of(submission.Spec.TemplateRef.Name), &submission.Status
	state := State{Phase: status.Phase, Reason: status.Reason}
	if state.Reason == "" {
		state.Reason = v1alpha1.ReasonAccepted // nobody has looked at it yet
	}
	of.standing[state]++
	if state.Phase == v1alpha1.PhaseProcessing && status.StartedAt != nil {
		of.oldest = max(of.oldest, now.Sub(underWaySince(status)))
	}
}

// underWaySince is when a submission that is Processing was begun or, where a decision had it go on later, when that was:
// the condition that says that it is not finished is there anew.
func underWaySince(status *v1alpha1.TaskSubmissionStatus) time.Time {
	since := status.StartedAt.Time
	for _, unfinished := range []string{v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled} {
		if c := meta.FindStatusCondition(status.Conditions, unfinished); c != nil && c.LastTransitionTime.After(since) {
			since = c.LastTransitionTime.Time
		}
	}
	return since
}

// ofProcess is what each replica tells of itself.
func (c *census) ofProcess() (all []prometheus.Metric) {
	for name, of := range c.templates {
		all = append(all, number(inFlightNow, of.used, name), number(queuedNow, of.queueing, name))
		if of.exists {
			all = append(all, number(limitNow, of.limit, name))
		}
	}
	return all
}

// ofLeader is what is the same whoever tells it.
func (c *census) ofLeader() (all []prometheus.Metric) {
	for name, of := range c.templates {
		for state, n := range of.standing {
			all = append(all, number(submissionsNow, n, name, string(state.Phase), string(state.Reason)))
		}
		awaiting := map[v1alpha1.Reason]int{v1alpha1.ReasonOutcomeUnknown: of.left}
		for state, n := range of.standing {
			awaiting[state.Reason] += n
		}
		for _, reason := range []v1alpha1.Reason{v1alpha1.ReasonAwaitingApproval, v1alpha1.ReasonOutcomeUnknown} {
			all = append(all, number(awaitingNow, awaiting[reason], name, string(reason)))
		}
		all = append(all, prometheus.MustNewConstMetric(oldestNow, prometheus.GaugeValue, of.oldest.Seconds(), name))
		if of.exists {
			all = append(all, number(readyNow, oneUnless(of.broken), name))
		}
		if of.heard {
			all = append(all, number(healthyNow, oneUnless(of.refused), name))
		}
	}
	return all
}

func number(desc *prometheus.Desc, n int, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n), labels...)
}

func oneUnless(wrong bool) int {
	if wrong {
		return 0
	}
	return 1
}
