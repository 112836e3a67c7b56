package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// Summary is what a run came to.
type Summary struct {
	Violations []string
	Effects    int
	Unknown    int
}

// Run makes a run and prints what happens. The error says that it could not be made or judged, or that a kind of
// fault never happened.
func Run(ctx context.Context, options Options, out io.Writer) (summary Summary, err error) {
	fmt.Fprintf(out, "Chaos with seed %d: bringing up etcd, kube-apiserver, two replicas of the operator and a receiver …\n", options.Seed)
	w, err := open(ctx, options)
	defer func() {
		keep := options.Keep || err != nil || len(summary.Violations) > 0
		if keep && w.dir != "" {
			fmt.Fprintf(out, "The logs, and the receiver's ledger, are in %s.\n", w.dir)
		}
		err = errors.Join(err, w.shut(keep))
	}()
	if err != nil {
		return summary, err
	}
	e, err := w.trouble(ctx, out)
	if err != nil {
		return summary, err
	}
	return w.conclude(e, out), nil
}

// trouble runs clients and faults, and then waits until all is quiet.
func (w *world) trouble(ctx context.Context, out io.Writer) (*evidence, error) {
	asking, enough := context.WithCancel(ctx)
	defer enough()
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		w.ask(asking)
	}()
	err := w.meddle(ctx, out)
	enough()
	<-asked
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	fmt.Fprintln(out, "No more faults; every key is asked for once more …")
	e, err := w.settle(ctx)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "Quiet after %.1f s.\n", time.Since(begun).Seconds())
	e.leaks, err = w.leaks(ctx, e)
	return e, err
}

// enoughStalls is how many calls that can be asked about must have stalled where a weakness is looked for.
const enoughStalls = 10

// meddle has happen what the run is about.
func (w *world) meddle(ctx context.Context, out io.Writer) error {
	if w.options.Weakness == "" {
		return w.disturb(ctx, faults(), out)
	}
	w.turn(active)
	return until(ctx, "the receiver to stall", func(context.Context) (bool, error) { return w.receiver.stalled() >= enoughStalls, nil })
}

// conclude judges, and prints what happened and what is wrong.
func (w *world) conclude(e *evidence, out io.Writer) Summary {
	summary := w.count(e)
	summary.Violations = append(e.judge(), linearizable(operations(e.events, payloadOf), filepath.Join(w.dir, "history.html"))...)
	w.tally.add("effects", summary.Effects)
	w.tally.add("unknown outcomes", summary.Unknown)
	w.tally.add("violations", len(summary.Violations))
	fmt.Fprintln(out, "\nWhat happened:")
	w.tally.print(out)
	for _, violation := range summary.Violations {
		fmt.Fprintln(out, "VIOLATION", violation)
	}
	fmt.Fprintf(out, "Seed %d: %d violations.\n", w.options.Seed, len(summary.Violations))
	return summary
}

// count counts what the evidence holds.
func (w *world) count(e *evidence) (summary Summary) {
	w.tally.add("client operations", len(e.events))
	w.tally.add("keys", len(e.keys))
	for _, entry := range e.entries {
		switch entry.Kind {
		case ledger.Call:
			w.tally.add("attempts that reached the receiver", 1)
			w.tally.add("receiver: "+string(moveIn(entry)), 1)
		case ledger.Effect:
			summary.Effects++
		case ledger.Check:
			w.tally.add("checks", 1)
		}
	}
	for _, r := range e.records {
		w.tally.add("attempts stored", int(r.Spec.Action.Attempt.Number))
		w.tally.add("outcome: "+string(r.Spec.Action.Phase)+"/"+string(r.Spec.Action.Reason), 1)
		if e.asks(&r) {
			summary.Unknown++
		}
	}
	return summary
}
