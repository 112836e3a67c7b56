package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// quantiles are the panels' lines of quantiles: what they are of, and which one each is.
var quantiles = map[string]float64{"p50": 0.5, "p95": 0.95, "p99": 0.99}

// observed are durations by what a panel calls them; "": all in one.
type observed map[string][]took

// checkQuantiles compares quantiles with what other clocks say: a quantile lies in the bucket of one of the durations, of
// which only bounds are known here.
func (c *comparison) checkQuantiles(shown *Shown, of observed) {
	for _, answer := range shown.Answers {
		q, all := quantiles[answer.Legend], of[""]
		if q == 0 {
			q, all = 0.95, of[answer.Legend]
		}
		if len(all) == 0 {
			if !math.IsNaN(answer.Value) {
				c.fault("%s %s: %v, of nothing", shown.Title, answer.Legend, answer.Value)
			}
			continue
		}
		rank := min(int(math.Ceil(q*float64(len(all))))-1, len(all)-1)
		least := ranked(all, rank, func(t took) time.Duration { return t.atLeast })
		most := ranked(all, rank, func(t took) time.Duration { return t.atMost })
		if from, to := c.lower(least), c.upper(most); !(answer.Value >= from && answer.Value <= to) {
			c.fault("%s %s: %v s, and should be between %v and %v", shown.Title, answer.Legend, answer.Value, from, to)
		}
	}
}

func ranked(all []took, rank int, bound func(took) time.Duration) float64 {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b took) int { return cmp.Compare(bound(a), bound(b)) })
	return bound(sorted[rank]).Seconds()
}

// lower and upper are the bounds of the bucket that a duration is counted in.
func (c *comparison) lower(duration float64) float64 {
	below := 0.0
	for _, bound := range c.bounds {
		if bound < duration {
			below = bound
		}
	}
	return below
}

func (c *comparison) upper(duration float64) float64 {
	for _, bound := range c.bounds {
		if bound >= duration {
			return bound
		}
	}
	return c.bounds[len(c.bounds)-1]
}

// readBounds reads the bounds of the histograms' buckets. Those of longer ones only go further.
func (c *comparison) readBounds(ctx context.Context) error {
	buckets, err := c.prometheus.instant(ctx, "count by (le) (taskonce_submission_duration_seconds_bucket)", c.operator.to)
	for id := range buckets {
		if bound := number(labelsOf(id)["le"]); !math.IsInf(bound, 1) {
			c.bounds = append(c.bounds, bound)
		}
	}
	slices.Sort(c.bounds)
	if err == nil && len(c.bounds) == 0 {
		err = fmt.Errorf("the histograms have no buckets")
	}
	return err
}

// submissionsLasted bounds how long each submission took that has finished.
func (c *comparison) submissionsLasted() observed {
	all := observed{}
	for i := range c.facts.submissions {
		if s := &c.facts.submissions[i]; s.Status.Phase.Terminal() {
			all[""] = append(all[""], c.facts.lasted(s.Name))
		}
	}
	return all
}

// callsLasted bounds how long each call took that came to an outcome.
func (c *comparison) callsLasted() observed {
	all := observed{}
	for i := range c.facts.submissions {
		s := &c.facts.submissions[i]
		most := c.facts.lasted(s.Name).atMost
		if !s.Status.Phase.Terminal() {
			most = c.operator.length()
		}
		for call := range c.facts.outcomes(s.Name) {
			took := took{0, most}
			if effects := c.facts.of(ledger.Effect, s.Name); call < len(effects) && len(effects) == len(c.facts.outcomes(s.Name)) {
				took.atLeast = effects[call].Time.Sub(c.facts.of(ledger.Call, s.Name)[call].Time)
			}
			all[s.Spec.TemplateRef.Name] = append(all[s.Spec.TemplateRef.Name], took)
		}
	}
	return all
}

// waited bounds how long each attempt waited for its turn: no longer than its submission took, or than the run.
func (c *comparison) waited() observed {
	all := observed{}
	for id, n := range c.facts.counters()["taskonce_queue_duration_seconds_count"] {
		of := labelsOf(id)[template]
		for range int(n) {
			all[of] = append(all[of], took{0, c.operator.length()})
		}
	}
	return all
}
