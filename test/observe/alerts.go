package main

import (
	"context"
	"fmt"
	"slices"

	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// alerts compares which alerts have something to say with what happened: each rule can be evaluated, and is about to fire
// where it should. Whether it waits long enough before that is tested in config/prometheus/rules_test.yaml. A rule that was
// evaluated when a scrape had just failed is evaluated again.
func (c *comparison) alerts(ctx context.Context, report *Report) error {
	expected := []string{"TaskonceOutcomeUnknown letter"}
	for _, name := range c.facts.failing() {
		expected = append(expected, "TaskonceReceiverFailing "+name)
	}
	slices.Sort(expected)
	var wrong []string
	err := until(ctx, "the alerts", func(ctx context.Context) (_ bool, err error) {
		if report.Alerts, wrong, err = c.active(ctx); err == nil && !slices.Equal(expected, report.Alerts) {
			wrong = append(wrong, fmt.Sprintf("the alerts are %q, and should be %q", report.Alerts, expected))
		}
		return len(wrong) == 0, err
	})
	c.faults = append(c.faults, wrong...)
	if wait.Interrupted(err) && len(wrong) > 0 {
		return nil
	}
	return err
}

// active returns the alerts that have something to say, and what is wrong with rules.
func (c *comparison) active(ctx context.Context) (alerts, wrong []string, err error) {
	rules, err := c.prometheus.api.Rules(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	evaluated := 0
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			alerting, ok := rule.(prometheusv1.AlertingRule)
			if !ok {
				continue
			}
			evaluated++
			if alerting.Health != prometheusv1.RuleHealthGood {
				wrong = append(wrong, fmt.Sprintf("the alert %s cannot be evaluated: %s", alerting.Name, alerting.LastError))
			}
			for _, active := range alerting.Alerts {
				alerts = append(alerts, alerting.Name+" "+string(active.Labels[template]))
			}
		}
	}
	if evaluated == 0 {
		wrong = append(wrong, "no alert was evaluated")
	}
	slices.Sort(alerts)
	return alerts, wrong, nil
}
