package main

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// panels asks every question of the dashboard and compares the answers.
func (c *comparison) panels(ctx context.Context, report *Report) error {
	all, err := readDashboard()
	if err != nil {
		return err
	}
	for _, panel := range all {
		shown := Shown{Panel: panel}
		for _, target := range panel.Targets {
			if err := c.ask(ctx, &shown, target); err != nil {
				return err
			}
		}
		if panel.Type != "row" {
			if err := c.judge(ctx, &shown); err != nil {
				return err
			}
			report.Compared++
		}
		report.Panels = append(report.Panels, shown)
	}
	return nil
}

// ask evaluates a query over the whole run, and for the picture over its course.
func (c *comparison) ask(ctx context.Context, shown *Shown, target Target) error {
	in := c.operator
	if strings.Contains(target.Expr, "apiserver_") {
		in = c.server
	}
	value, _, err := c.prometheus.api.Query(ctx, target.query(in.length()), in.to)
	if err != nil {
		return err
	}
	vector := value.(model.Vector)
	if len(vector) == 0 {
		c.fault("%s: the query is empty: %s", shown.Title, target.Expr)
	}
	const interval = 2 * time.Second
	step := time.Second
	if shown.bars() {
		step = interval // each is counted in one bar
	}
	course, err := c.prometheus.over(ctx, target.query(interval), in.from.Add(interval), in.to, step)
	if err != nil {
		return err
	}
	for _, sample := range vector {
		answer := Answer{Legend: target.legend(textsOf(sample.Metric)), Labels: textsOf(sample.Metric), Value: float64(sample.Value)}
		for _, series := range course {
			if maps.Equal(textsOf(series.Metric), answer.Labels) {
				answer.Course = series.Values
			}
		}
		shown.Answers = append(shown.Answers, answer)
	}
	slices.SortFunc(shown.Answers, func(a, b Answer) int { return strings.Compare(a.Legend, b.Legend) })
	return nil
}

// judge compares a panel's answers with what happened.
func (c *comparison) judge(ctx context.Context, shown *Shown) error {
	counters, gauges := c.facts.counters(), c.facts.gauges()
	exactly := func(expected expectation) {
		measured := expectation{}
		for _, answer := range shown.Answers {
			measured[answer.Legend] += answer.Value
		}
		c.faults = append(c.faults, expected.differences(shown.Title, measured)...)
	}
	legends := func(e expectation, names ...string) expectation {
		named := expectation{}
		for id, n := range e.by(names...) {
			labels := labelsOf(id)
			named[shown.Targets[0].legend(labels)] += n
		}
		return named
	}
	switch shown.Title {
	case "What has not finished, and how far has it come?":
		exactly(legends(gauges["taskonce_submissions"], phase))
	case "What waits for a person?":
		exactly(legends(gauges["taskonce_submissions_awaiting_decision"], reason))
	case "For how long has the oldest been processing?":
		for _, answer := range shown.Answers {
			c.checkAge(answer.Legend, answer.Value)
		}
	case "What did submissions come to?":
		exactly(legends(counters["taskonce_submissions_finished_total"], phase, reason))
	case "How long from create to done?":
		c.checkQuantiles(shown, c.submissionsLasted())
	case "Do clients retry?":
		exactly(legends(sum(counters["taskonce_duplicates_total"], c.seenOfRace), found))
	case "Do clients write at the same time?":
		exactly(expectation{"refused as duplicates": c.facts.has(func(s sent) bool { return s.answer == exists })})
	case "Do different clients act on the same thing?":
		exactly(legends(counters["taskonce_business_key_conflicts_total"], template))
	case "What do attempts come to?":
		exactly(legends(counters["taskonce_attempts_total"], outcome))
	case "What became of unknown outcomes?":
		exactly(legends(counters["taskonce_recoveries_total"], result))
	case "How long does a receiver take?":
		c.checkQuantiles(shown, c.callsLasted())
	case "Does a receiver refuse our credentials?":
		exactly(legends(gauges["taskonce_receiver_healthy"], template))
	case "How long does an attempt wait for its turn?":
		c.checkQuantiles(shown, c.waited())
	case "How many wait for a place?":
		exactly(legends(gauges["taskonce_attempts_queued"], template))
	case "How many places are taken?":
		exactly(legends(gauges["taskonce_attempts_in_flight"], template))
	case "What does it write to the API server?":
		return c.checkWrites(ctx, shown)
	case "How many replicas lead?":
		exactly(expectation{"leaders": 1})
	case "How long ago was the last complete sweep?":
		if ago := shown.Answers[0].Value; ago < 0 || ago > time.Since(c.operator.from).Seconds()+60 {
			c.fault("%s %v s", shown.Title, ago)
		}
	case "When does the webhooks' certificate end?":
		left := float64(c.facts.certificate.NotAfter.Unix()) - seconds(c.operator.to)
		if len(shown.Answers) != 1 || math.Abs(shown.Answers[0].Value-left) > 1e-3 {
			c.fault("%s %v, and should be %v", shown.Title, shown.Answers, left)
		}
	default:
		c.fault("nobody computes the answer of %q", shown.Title)
	}
	return nil
}
