package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/bench/report"
)

// slow compares a template's latency alone, beside another one whose receiver is slow and has more to do than its
// bulkhead lets through, and beside as much work that no receiver delays.
func slow() section {
	return section{name: report.SectionSlow, comparisons: func(o Options) []comparison {
		fast := load{n: o.Gentle, every: time.Second / gentleRate}
		return []comparison{{name: report.TenASec, pairs: o.Pairs, sides: []side{
			{report.Beside, func(ctx context.Context, w *world) (report.Sample, error) { return w.besideSlow(ctx, fast) }},
			{report.BesideFast, func(ctx context.Context, w *world) (report.Sample, error) { return w.besideFast(ctx, fast) }},
			{report.Alone, func(ctx context.Context, w *world) (report.Sample, error) { return w.through(ctx, fast) }},
		}}}
	}}
}

// bulkhead is a template's limit unless it says otherwise.
const bulkhead = 32

// besideFast creates each second at once as many as the slow receiver's bulkhead lets through in it.
func (w *world) besideFast(ctx context.Context, fast load) (report.Sample, error) {
	seconds := fast.n / gentleRate
	f, err := w.prepare(ctx, kind{}, nil)
	if err != nil {
		return report.Sample{}, err
	}
	defer f.close()
	sample, err := w.throughBeside(ctx, fast, func(context.Context) error { // which ends by itself, about when the fast ones do
		return paced(ctx, 1, seconds, slowness, func(ctx context.Context, second int) error {
			return w.submit(ctx, f, load{n: bulkhead, clients: bulkhead, burst: true, of: func(namespace string, n int) *v1alpha1.TaskSubmission {
				return submission(namespace, second*bulkhead+n)
			}})
		})
	})
	if err != nil {
		return sample, err
	}
	all := load{n: seconds * bulkhead}
	sample.Figures = map[string]float64{report.BesideCount: float64(all.n)}
	return sample, w.awaitAll(ctx, f, all)
}

// besideSlow submits to the slow receiver, before anything is measured, what its bulkhead of 32 takes longer for than
// the fast ones need, and waits for all of it in the end.
func (w *world) besideSlow(ctx context.Context, fast load) (report.Sample, error) {
	l := load{n: bulkhead * (2 + fast.n/gentleRate), clients: bulkhead, burst: true, kind: kind{path: pathSlow}}
	f, err := w.prepare(ctx, l.kind, nil)
	if err != nil {
		return report.Sample{}, err
	}
	defer f.close()
	if err := w.submit(ctx, f, l); err != nil {
		return report.Sample{}, err
	}
	sample, err := w.through(ctx, fast)
	if err != nil {
		return sample, err
	}
	l.burst = true
	sample.Figures = map[string]float64{report.BesideCount: float64(l.n)}
	return sample, w.awaitAll(ctx, f, l)
}

// stampede compares the rate of others while duplicates of one key are created, as fast as the API server takes them,
// with that while as many creates of a kind that nobody watches are refused.
func stampede() section {
	return section{name: report.SectionStampede, setting: setting{admission: true}, comparisons: func(o Options) []comparison {
		const each = 4 // refused creates for each submission
		others := load{n: o.Submissions / 2, clients: 8}
		duplicates := func(labels map[string]string) func(context.Context, *world) (report.Sample, error) {
			return func(ctx context.Context, w *world) (report.Sample, error) {
				f, err := w.finished(ctx, load{n: 1, clients: 1, labels: labels})
				if err != nil {
					return report.Sample{}, err
				}
				return w.stampede(ctx, others, each*others.n, func(ctx context.Context) error {
					return refused(w.api.Create(ctx, submission(f.namespace, 0)))
				})
			}
		}
		return []comparison{{name: report.Stampede, pairs: o.Pairs, profiled: true, sides: []side{
			{report.Duplicate, duplicates(nil)},
			{report.Unseen, duplicates(map[string]string{unadmitted: "true"})},
			{report.Refused, func(ctx context.Context, w *world) (report.Sample, error) {
				namespace, err := w.plane.Namespace(ctx)
				if err != nil {
					return report.Sample{}, err
				}
				if err := w.bareAPI.Create(ctx, submission(namespace, 0)); err != nil {
					return report.Sample{}, err
				}
				return w.stampede(ctx, others, each*others.n, func(ctx context.Context) error {
					return refused(w.bareAPI.Create(ctx, submission(namespace, 0)))
				})
			}},
		}}}
	}}
}

// stampede measures others while a crowd does something n times.
func (w *world) stampede(ctx context.Context, others load, n int, do func(context.Context) error) (report.Sample, error) {
	const crowd = 16
	var done atomic.Int64
	sample, err := w.throughBeside(ctx, others, func(ctx context.Context) error {
		return inFlight(ctx, crowd, n, func(ctx context.Context, _ int) error {
			done.Add(1)
			return do(ctx)
		})
	})
	sample.Figures = map[string]float64{report.BesideCount: float64(done.Load())}
	return sample, err
}
