package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// bag returns faults in an order that is drawn: first those that meet a leader, then those that meet two active
// replicas. What may come in either mode is dealt out to both.
func bag(random *rand.Rand, list []fault) []fault {
	list = slices.Clone(list)
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	first := []mode{elected, active}[random.IntN(2)]
	for i := range list {
		if list[i].in == "" {
			list[i].in = first
			first = map[mode]mode{elected: active, active: elected}[first]
		}
	}
	slices.SortStableFunc(list, func(a, b fault) int {
		return slices.Index([]mode{elected, active}, a.in) - slices.Index([]mode{elected, active}, b.in)
	})
	return list
}

// turn has the replicas share the work in another way.
func (w *world) turn(m mode) {
	for _, r := range w.replicas {
		r.is(m)
	}
	w.mode = m
}

// disturb brings faults in an order that is drawn, over and over, until the time is over and each has happened. It leaves
// both replicas active.
func (w *world) disturb(ctx context.Context, list []fault, out io.Writer) error {
	defer w.turn(active)
	random := draw(w.options.Seed, "faults")
	begun, progress := time.Now(), time.Now() // progress is when one happened that had been missing
	missing := map[string]bool{}
	for _, f := range list {
		missing[f.name] = true
	}
	for {
		for _, f := range bag(random, list) {
			switch since := time.Since(begun); {
			case since > w.options.Duration && len(missing) == 0:
				return nil
			case since > w.options.Duration && time.Since(progress) > patience:
				return fmt.Errorf("these faults never happened: %v", slices.Sorted(maps.Keys(missing)))
			case since > w.options.Duration && !missing[f.name]:
				continue
			}
			pass(ctx, time.Duration(random.IntN(800))*time.Millisecond)
			fmt.Fprintf(out, "%6.1fs  %s: %s\n", time.Since(begun).Seconds(), f.in, f.name)
			happened, err := w.bring(ctx, f, random)
			if err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			if happened && missing[f.name] {
				delete(missing, f.name)
				progress = time.Now()
			} else if !happened {
				fmt.Fprintf(out, "         %s disturbed nothing\n", f.name)
			}
		}
	}
}

// bring brings one fault, and reports whether it happened.
func (w *world) bring(ctx context.Context, f fault, random *rand.Rand) (bool, error) {
	w.turn(f.in)
	err := f.do(ctx, w, random)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, errNotFired):
		return false, nil
	case err != nil:
		return false, err
	}
	w.tally.add(fmt.Sprintf("fault (%s): %s", f.in, f.name), 1)
	return true, nil
}
