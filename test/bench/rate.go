package main

import (
	"context"
	"time"

	"github.com/taskonce/taskonce/test/bench/report"
)

// gentleRate is how many submissions a second are made to see how long one takes on a machine with time to spare.
const gentleRate = 10

// rate compares submissions a second with a bare client that makes the same writes.
func rate() section {
	return section{name: report.SectionRate, comparisons: func(o Options) []comparison {
		return []comparison{
			rateOf(report.Busy, o.Pairs, o.Submissions, 32),
			rateOf(report.Saturated, o.Pairs, o.Submissions, 256),
			rateOf(report.Single, o.Pairs, o.Submissions/10, 1),
		}
	}}
}

func rateOf(name string, pairs, n, clients int) comparison {
	return comparison{name: name, pairs: pairs, profiled: clients > 1, sides: []side{
		{report.Operator, func(ctx context.Context, w *world) (report.Sample, error) {
			return w.straight(ctx, load{n: n, clients: clients})
		}},
		{report.Bare, func(ctx context.Context, w *world) (report.Sample, error) {
			return w.bare(ctx, bareLoad{n: n, clients: clients})
		}},
	}}
}

// gentle compares how long one takes where nothing waits for anything.
func gentle() section {
	const every = time.Second / gentleRate
	return section{name: report.SectionGentle, comparisons: func(o Options) []comparison {
		return []comparison{{name: report.TenASec, pairs: o.Pairs, sides: []side{
			{report.Operator, func(ctx context.Context, w *world) (report.Sample, error) {
				return w.straight(ctx, load{n: o.Gentle, every: every})
			}},
			{report.Bare, func(ctx context.Context, w *world) (report.Sample, error) {
				return w.bare(ctx, bareLoad{n: o.Gentle, every: every})
			}},
		}}}
	}}
}

// straight measures straight paths and judges what they took.
func (w *world) straight(ctx context.Context, l load) (report.Sample, error) {
	sample, err := w.through(ctx, l)
	if err == nil {
		sample.Faults = append(sample.Faults, straightFaults(&sample)...)
		sample.Figures, err = sizes(w.specimen.submission, w.specimen.concluded)
	}
	return sample, err
}
