package main

import (
	"context"
	"slices"

	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
)

// alerts compares which alerts have something to say with what happened: each rule can be evaluated, and is about to fire
// where it should. Whether it waits long enough before that is tested in config/prometheus/rules_test.yaml.
func (c *comparison) alerts(ctx context.Context, report *Report) error {
	rules, err := c.prometheus.api.Rules(ctx, nil)
	if err != nil {
		return err
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
				c.fault("the alert %s cannot be evaluated: %s", alerting.Name, alerting.LastError)
			}
			for _, active := range alerting.Alerts {
				report.Alerts = append(report.Alerts, alerting.Name+" "+string(active.Labels[template]))
			}
		}
	}
	if evaluated == 0 {
		c.fault("no alert was evaluated")
	}
	expected := []string{"TaskonceOutcomeUnknown letter"}
	for _, name := range c.facts.failing() {
		expected = append(expected, "TaskonceReceiverFailing "+name)
	}
	slices.Sort(expected)
	slices.Sort(report.Alerts)
	if !slices.Equal(expected, report.Alerts) {
		c.fault("the alerts are %q, and should be %q", report.Alerts, expected)
	}
	return nil
}
