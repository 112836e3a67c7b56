package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taskonce/taskonce/internal/telemetry"
)

// comparison holds what is seen beside what happened.
type comparison struct {
	prometheus *prometheus
	facts      *facts
	writes     expectation
	// operator and server are from the first scrape of each to the last.
	operator, server window

	seenOfRace expectation // duplicates of the race that admission happened to see
	bounds     []float64   // of the histograms' buckets
	faults     []string
}

func (c *comparison) fault(format string, arguments ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, arguments...))
}

func (c *comparison) report(ctx context.Context) (*Report, error) {
	report := &Report{Length: c.operator.length()}
	if err := c.readBounds(ctx); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *Report) error{c.metrics, c.race, c.labels, c.alerts, c.panels} {
		if err := step(ctx, report); err != nil {
			return nil, err
		}
	}
	report.Faults = c.faults
	return report, nil
}

// metrics compares every metric of the operator's, series by series.
func (c *comparison) metrics(ctx context.Context, report *Report) error {
	counters, gauges := c.facts.counters(), c.facts.gauges()
	for _, metric := range telemetry.Catalogue() {
		name := metric.Name
		if metric.Type == "histogram" {
			name += "_count"
		}
		measured, err := c.prometheus.instant(ctx, name, c.operator.to)
		if err != nil {
			return err
		}
		measured = measured.by(metric.Labels...)
		expected, counted := counters[name]
		if !counted {
			if expected, counted = gauges[name]; !counted {
				c.bounded(name, measured)
				continue
			}
		}
		if name == "taskonce_duplicates_total" {
			measured = without(measured, template, "race")
		}
		report.Compared += len(expected)
		c.faults = append(c.faults, expected.differences(name, measured)...)
	}
	return nil
}

// bounded compares what changes with time.
func (c *comparison) bounded(name string, measured expectation) {
	switch name {
	case "taskonce_oldest_processing_age_seconds":
		for id, age := range measured {
			c.checkAge(labelsOf(id)[template], age)
		}
	case "taskonce_sweep_last_completed_timestamp_seconds":
		if at := measured[""]; at <= 0 || at > seconds(c.operator.to) {
			c.fault("the last sweep was complete at %v", at)
		}
	case "taskonce_sweep_due_objects": // what is due changes while a sweep looks at it
	default:
		c.fault("nobody computes what %s should be", name)
	}
}

// checkAge compares the age of the oldest submission of a template that is Processing with what its status says. A scrape is
// answered from what was computed shortly before it.
func (c *comparison) checkAge(of string, age float64) {
	oldest := time.Time{}
	for i := range c.facts.submissions {
		s := &c.facts.submissions[i]
		if s.Spec.TemplateRef.Name == of && s.Status.Phase == "Processing" && s.Status.StartedAt != nil && (oldest.IsZero() || s.Status.StartedAt.Time.Before(oldest)) {
			oldest = s.Status.StartedAt.Time
		}
	}
	if oldest.IsZero() && age == 0 {
		return // nothing is
	}
	if most := c.operator.to.Add(time.Second).Sub(oldest).Seconds(); oldest.IsZero() || age > most || age < most-1-shownAfter.Seconds() {
		c.fault("the oldest of %s was begun at %s, and is said to be %v s old at %s", of, oldest, age, c.operator.to)
	}
}

// race compares what happened at the same moment with the API server's own count, and with what admission can have seen of
// it at most.
func (c *comparison) race(ctx context.Context, report *Report) error {
	refused := c.facts.has(func(s sent) bool { return s.answer == exists })
	query := "sum(increase(" + ofAPIServer + fmt.Sprintf("[%dms]))", c.server.length().Milliseconds())
	measured, err := c.prometheus.instant(ctx, query, c.server.to)
	if err != nil {
		return err
	}
	report.Compared++
	if measured[""] != refused {
		c.fault("the API server refused %v duplicates, and clients were told so %v times", measured[""], refused)
	}
	ofRace := c.facts.has(func(s sent) bool { return s.answer == exists && s.template == "race" })
	if ofRace != races*(rivals-1) {
		c.fault("of the race, %v creates were refused as duplicates, and %d were sent in vain", ofRace, races*(rivals-1))
	}
	seen, err := c.prometheus.instant(ctx, `taskonce_duplicates_total{template="race"}`, c.operator.to)
	c.seenOfRace = seen.by(template, found)
	if n := c.seenOfRace.by()[""]; n > ofRace {
		c.fault("admission saw %v duplicates of the race, of which there were %v", n, ofRace)
	}
	return err
}

// labels looks for labels that grow with use.
func (c *comparison) labels(ctx context.Context, _ *Report) error {
	all, _, err := c.prometheus.api.Series(ctx, []string{`{job="taskonce"}`}, c.operator.from, c.operator.to)
	if err != nil {
		return err
	}
	allowed := map[string][]string{}
	for _, metric := range telemetry.Catalogue() {
		allowed[metric.Name] = append(metric.Labels, "__name__", "job", "instance", "le")
	}
	names := append(c.facts.names(), c.facts.namespace)
	for _, series := range all {
		name := string(series["__name__"])
		for label, value := range series {
			if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(string(value), name) }) {
				c.fault("%s has the label %s=%q: it grows with use", name, label, value)
			}
			if own := allowed[base(name)]; strings.HasPrefix(name, "taskonce_") && !slices.Contains(own, string(label)) {
				c.fault("%s has a label %s, of which the catalogue knows nothing", name, label)
			}
		}
	}
	return nil
}

// base is the name of a histogram that a series belongs to, or its own.
func base(name string) string {
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if cut := strings.TrimSuffix(name, suffix); cut != name && strings.HasSuffix(cut, "_seconds") {
			return cut
		}
	}
	return name
}

func seconds(at time.Time) float64 { return float64(at.UnixMilli()) / 1000 }
