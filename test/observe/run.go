package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// shownAfter is more than the time for which the operator keeps what it has computed for a scrape.
const shownAfter = 3 * time.Second

// Run plays the load and compares what is seen with what happened.
func Run(ctx context.Context) (report *Report, err error) {
	w, err := open(ctx)
	defer func() { err = errors.Join(err, w.shut()) }()
	if err != nil {
		return nil, err
	}
	operator, server := window{}, window{}
	begun := time.Now()
	if operator.from, err = w.prometheus.firstScrape(ctx, ofOperator, begun); err != nil {
		return nil, err
	}
	if server.from, err = w.prometheus.firstScrape(ctx, ofAPIServer, begun); err != nil {
		return nil, err
	}
	if err := w.load(ctx); err != nil {
		return nil, fmt.Errorf("the load: %w", err)
	}
	rested := time.Now().Add(shownAfter)
	if server.to, err = w.prometheus.lastScrape(ctx, ofAPIServer, rested); err != nil {
		return nil, err
	}
	writes, err := w.accounted(ctx, rested, &operator)
	if err != nil {
		return nil, err
	}
	facts, err := w.facts(ctx)
	if err != nil {
		return nil, err
	}
	c := &comparison{prometheus: w.prometheus, facts: facts, writes: writes, operator: operator, server: server}
	return c.report(ctx)
}

// accounted ends the window with a scrape in which the operator counts as many writes as the API server has answered. While
// nothing is submitted that is nearly always so: a lease is renewed once in a minute.
func (w *world) accounted(ctx context.Context, after time.Time, in *window) (writes expectation, err error) {
	var differ []string
	err = until(ctx, "a scrape in which operator and API server count the same writes", func(ctx context.Context) (bool, error) {
		if in.to, err = w.prometheus.lastScrape(ctx, ofOperator, after); err != nil {
			return false, err
		}
		if writes, err = w.writes(); err != nil {
			return false, err
		}
		counted, err := w.prometheus.instant(ctx, `rest_client_requests_total{job="taskonce",method!="GET"}`, in.to)
		if err != nil {
			return false, err
		}
		differ = writes.differences("rest_client_requests_total", counted.by("method", "code"))
		return len(differ) == 0, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %q", err, differ)
	}
	return writes, nil
}
