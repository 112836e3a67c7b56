package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"syscall"
	"time"
)

// failpoints are the places at which the operator can be told to die, as in internal/controller.
var failpoints = []string{"before-record", "after-record", "after-answer", "after-conclude", "before-status", "after-status"}

// errNotFired says that a failpoint was not come by in time; it is tried again.
var errNotFired = errors.New("it was not come by")

// fault disturbs the operator once, and leaves two replicas and an API server that work or soon will.
type fault struct {
	name string
	do   func(ctx context.Context, w *world, random *rand.Rand) error
}

func faults() []fault {
	list := []fault{
		{"kill", func(_ context.Context, w *world, random *rand.Rand) error {
			w.replicas[random.IntN(2)].kill()
			return nil
		}},
		{"kill both", func(_ context.Context, w *world, _ *rand.Rand) error {
			w.replicas[0].kill()
			w.replicas[1].kill()
			return nil
		}},
		{"stop past the lease", stopPastLease},
		{"API server killed", killAPIServer},
		{"etcd paused", pauseEtcd},
	}
	for _, name := range failpoints {
		list = append(list, fault{"failpoint " + name, func(ctx context.Context, w *world, random *rand.Rand) error {
			return die(ctx, w, random.IntN(2), name)
		}})
	}
	return list
}

// stopPastLease stops each replica in turn until the other leads, and lets it go on: one of them was the leader.
func stopPastLease(ctx context.Context, w *world, random *rand.Rand) error {
	first := random.IntN(2)
	for _, r := range []*replica{w.replicas[first], w.replicas[1-first]} {
		if err := r.signal(syscall.SIGSTOP); err != nil {
			return err
		}
		pass(ctx, lease+time.Second)
		if err := r.signal(syscall.SIGCONT); err != nil {
			return err
		}
		pass(ctx, time.Second)
	}
	return nil
}

// killAPIServer cuts every watch, too.
func killAPIServer(ctx context.Context, w *world, random *rand.Rand) error {
	if err := w.plane.KillAPIServer(ctx); err != nil {
		return err
	}
	pass(ctx, time.Duration(random.IntN(2000))*time.Millisecond)
	return w.plane.StartAPIServer()
}

func pauseEtcd(ctx context.Context, w *world, random *rand.Rand) error {
	if err := w.plane.PauseEtcd(ctx); err != nil {
		return err
	}
	pass(ctx, time.Second+time.Duration(random.IntN(2000))*time.Millisecond)
	return w.plane.ResumeEtcd(context.WithoutCancel(ctx))
}

// die has one replica started with a failpoint, and the other one out of its way until that has fired.
func die(ctx context.Context, w *world, which int, failpoint string) error {
	fired := w.replicas[which].arm(failpoint)
	w.replicas[1-which].down()
	defer w.replicas[1-which].up()
	select {
	case <-fired:
		return nil
	case <-time.After(10 * lease):
		w.replicas[which].disarm()
		return errNotFired
	case <-ctx.Done():
		return ctx.Err()
	}
}

// disturb brings all faults in an order that is drawn, over and over, until the time is over and each has happened.
func (w *world) disturb(ctx context.Context, out io.Writer) error {
	random := draw(w.options.Seed, "faults")
	begun := time.Now()
	missing := map[string]bool{}
	for _, f := range faults() {
		missing[f.name] = true
	}
	for {
		bag := faults()
		random.Shuffle(len(bag), func(i, j int) { bag[i], bag[j] = bag[j], bag[i] })
		for _, f := range bag {
			switch since := time.Since(begun); {
			case since > w.options.Duration && len(missing) == 0:
				return nil
			case since > w.options.Duration+patience:
				return fmt.Errorf("these faults never happened: %v", missing)
			case since > w.options.Duration && !missing[f.name]:
				continue
			}
			pass(ctx, time.Duration(random.IntN(800))*time.Millisecond)
			fmt.Fprintf(out, "%6.1fs  %s\n", time.Since(begun).Seconds(), f.name)
			switch err := f.do(ctx, w, random); {
			case errors.Is(err, errNotFired):
				fmt.Fprintf(out, "%6.1fs  %s: %v\n", time.Since(begun).Seconds(), f.name, err)
			case err != nil:
				return fmt.Errorf("%s: %w", f.name, err)
			default:
				delete(missing, f.name)
				w.tally.add("fault: "+f.name, 1)
			}
		}
	}
}
