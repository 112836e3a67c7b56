package main

import (
	"context"
	"fmt"
	"time"

	"github.com/taskonce/taskonce/test/bench/report"
)

// leg is how many submissions of a long run share a namespace, and are waited for together.
const leg = 5_000

// long is the memory of one operator before and after it has carried out as many submissions as the history has. It takes
// long, and needs no quiet machine: how much memory work leaves does not depend on how fast it was done.
func long() section {
	return section{name: report.SectionLong, apart: true, setting: setting{idle: true}, comparisons: func(o Options) []comparison {
		return []comparison{{name: report.Worked, pairs: 1, sides: []side{{report.Operator, func(ctx context.Context, w *world) (report.Sample, error) {
			return w.longRun(ctx, o.Long)
		}}}}}
	}}
}

func (w *world) longRun(ctx context.Context, n int) (sample report.Sample, err error) {
	w.killManagers()
	o := &operator{}
	if o.process, err = w.startManager(ctx); err != nil {
		return sample, err
	}
	o.pprof = w.pprof
	if _, err := w.through(ctx, load{n: 1, clients: 1}); err != nil {
		return sample, err
	}
	if err := w.leaveAlone(ctx); err != nil {
		return sample, err
	}
	idle, err := w.weighed(ctx, o, 0)
	if err != nil {
		return sample, err
	}
	if err := w.march(ctx, o, n); err != nil {
		return sample, err
	}
	if err := w.leaveAlone(ctx); err != nil {
		return sample, err
	}
	if sample, err = w.weighed(ctx, o, n); err == nil {
		sample.Figures[report.IdleMiB], sample.Figures[report.IdleLiveMiB] = idle.Figures[report.MemoryMiB], idle.Figures[report.LiveMiB]
	}
	return sample, err
}

// march has n submissions carried out, leg by leg, and says how far it is.
func (w *world) march(ctx context.Context, o *operator, n int) error {
	begun := time.Now()
	for done := 0; done < n; {
		part := min(leg, n-done)
		if _, err := w.through(ctx, load{n: part, clients: 32}); err != nil {
			return fmt.Errorf("after %d of %d: %w", done, n, err)
		}
		done += part
		resident, err := residentMiB(o.process.PID())
		if err != nil {
			return err
		}
		took := time.Since(begun)
		fmt.Fprintf(w.progress, "  %d of %d carried out in %s; the operator has %.1f MiB resident; about %s to go\n",
			done, n, took.Round(time.Second), resident, (took * time.Duration(n-done) / time.Duration(done)).Round(time.Second))
	}
	return nil
}
