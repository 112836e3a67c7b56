package main

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/common/model"
)

// window is a span of time that begins and ends with a scrape, so that Prometheus extrapolates nothing: an increase over it
// is the difference between its last and its first sample, exactly.
type window struct{ from, to time.Time }

func (in window) length() time.Duration { return in.to.Sub(in.from) }

// One metric of each scrape.
const (
	ofOperator  = "taskonce_max_in_flight"
	ofAPIServer = `apiserver_request_total{group="taskonce.dev",resource="tasksubmissions",verb="POST",code="409"}`
)

// firstScrape returns when a metric was scraped first, from a time on.
func (p *prometheus) firstScrape(ctx context.Context, selector string, since time.Time) (at time.Time, err error) {
	err = until(ctx, "a scrape of "+selector, func(ctx context.Context) (bool, error) {
		scrapes, err := p.scrapes(ctx, selector, since)
		if len(scrapes) > 0 {
			at = scrapes[0].Timestamp.Time()
		}
		return len(scrapes) > 0, err
	})
	return at, err
}

// lastScrape returns when a metric was scraped last, which must be after a time.
func (p *prometheus) lastScrape(ctx context.Context, selector string, after time.Time) (at time.Time, err error) {
	err = until(ctx, "another scrape of "+selector, func(ctx context.Context) (bool, error) {
		scrapes, err := p.scrapes(ctx, selector, after)
		if len(scrapes) > 0 {
			at = scrapes[len(scrapes)-1].Timestamp.Time()
		}
		return len(scrapes) > 0, err
	})
	return at, err
}

func (p *prometheus) scrapes(ctx context.Context, selector string, since time.Time) ([]model.SamplePair, error) {
	now := p.now()
	if !now.After(since.Add(time.Millisecond)) {
		return nil, nil
	}
	series, err := p.samples(ctx, selector, since, now)
	switch {
	case err != nil || len(series) == 0:
		return nil, err
	case len(series) > 1:
		return nil, errors.New(selector + " is scraped more than once")
	}
	return series[0].Values, nil
}
