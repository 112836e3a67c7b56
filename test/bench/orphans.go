package main

import (
	"context"
	"fmt"
	"time"

	"github.com/taskonce/taskonce/test/bench/report"
)

// recovered has an operator killed in the middle of n attempts, starts another one, and measures until that has done its
// first work and has recovered all of them.
func (w *world) recovered(ctx context.Context, n int) (sample report.Sample, err error) {
	defer w.killManagers()
	most := fmt.Sprintf("--max-in-flight=%d", n+1)
	if _, err := w.startManager(ctx, most); err != nil {
		return sample, err
	}
	limits := map[string]any{"limits": map[string]any{"maxInFlight": int64(n)}}
	same, err := w.through(ctx, load{n: n, clients: 32, kind: kind{spec: limits}})
	if err != nil {
		return sample, err
	}
	l := load{n: n, clients: 32, burst: true, kind: kind{path: pathHang, replaySafe: true, timeout: fmt.Sprintf("%ds", w.options.Timeout), spec: limits}}
	f, err := w.orphan(ctx, l)
	if err != nil {
		return sample, err
	}
	defer f.close()
	namespace, err := w.plane.Namespace(ctx)
	if err != nil {
		return sample, err
	}
	var first, all time.Duration
	sample, err = w.measure(ctx, n, func(ctx context.Context) error {
		begun := time.Now()
		if _, err := w.startManager(ctx, most); err != nil {
			return err
		}
		if first, err = w.first(ctx, namespace, begun); err != nil {
			return err
		}
		err := w.awaitAll(ctx, f, l)
		all = time.Since(begun)
		return err
	})
	sample.Figures = map[string]float64{
		report.Orphans: float64(n), report.TimeoutSeconds: float64(w.options.Timeout), report.BaseSeconds: same.Seconds,
		report.FirstSeconds: first.Seconds(), report.RecoverSeconds: all.Seconds(), report.Objects: float64(w.options.History),
	}
	return sample, err
}

// orphan kills the operator when all of a load hangs at the receiver, and has the receiver answer from then on.
func (w *world) orphan(ctx context.Context, l load) (*follower, error) {
	f, err := w.prepare(ctx, l.kind, nil)
	if err != nil {
		return nil, err
	}
	w.receiver.hold()
	hanging := func(n int) func(context.Context) (bool, error) {
		return func(context.Context) (bool, error) { return w.receiver.hangs() == n, nil }
	}
	if err = w.submit(ctx, f, l); err == nil {
		err = until(ctx, "the receiver to have all calls", hanging(l.n))
	}
	w.killManagers()
	if err == nil {
		err = until(ctx, "the receiver to see that its caller has gone", hanging(0))
	}
	if err != nil {
		f.close()
		return nil, err
	}
	w.receiver.release()
	return f, nil
}
