package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/taskonce/taskonce/internal/failpoint"
)

// errNotFired says that a fault met nothing that it could disturb in time; it is tried again.
var errNotFired = errors.New("nothing was disturbed")

// fault disturbs the operator once, and leaves two replicas and an API server that work or soon will.
type fault struct {
	name string
	// in is the mode that it is for; none: either.
	in mode
	do func(ctx context.Context, w *world, random *rand.Rand) error
}

func faults() []fault {
	list := []fault{
		{"kill", "", func(_ context.Context, w *world, random *rand.Rand) error {
			w.replicas[random.IntN(2)].kill()
			return nil
		}},
		{"kill both", "", func(_ context.Context, w *world, _ *rand.Rand) error {
			w.replicas[0].kill()
			w.replicas[1].kill()
			return nil
		}},
		{"stop past the lease", elected, stopPastLease},
		{"stop past the take-over", active, stopPastTakeOver},
		{"API server killed", "", killAPIServer},
		{"etcd paused", "", pauseEtcd},
		{"watches cut", "", cutWatches},
		{"answers lost", "", loseAnswers},
	}
	for _, name := range failpoint.All {
		list = append(list, fault{"failpoint " + string(name), "", func(ctx context.Context, w *world, random *rand.Rand) error {
			return die(ctx, w, random.IntN(2), name)
		}})
	}
	return list
}

// stopPastLease stops each replica in turn until the other leads, and lets it go on: one of them was the leader.
func stopPastLease(ctx context.Context, w *world, random *rand.Rand) error {
	first := random.IntN(2)
	for _, r := range []*replica{w.replicas[first], w.replicas[1-first]} {
		if err := r.stop(ctx, lease+time.Second); err != nil {
			return err
		}
		pass(ctx, time.Second)
	}
	return nil
}

// stopPastTakeOver stops a replica until the other one has taken its attempts as lost.
func stopPastTakeOver(ctx context.Context, w *world, random *rand.Rand) error {
	return w.replicas[random.IntN(2)].stop(ctx, orphaned+2*time.Second)
}

// killAPIServer cuts every watch, too.
func killAPIServer(ctx context.Context, w *world, random *rand.Rand) error {
	if err := w.plane.KillAPIServer(); err != nil {
		return err
	}
	pass(ctx, time.Duration(random.IntN(2000))*time.Millisecond)
	return w.plane.StartAPIServer()
}

func pauseEtcd(ctx context.Context, w *world, random *rand.Rand) error {
	if err := w.plane.PauseEtcd(); err != nil {
		return err
	}
	pass(ctx, time.Second+time.Duration(random.IntN(2000))*time.Millisecond)
	return w.plane.ResumeEtcd()
}

// cutWatches leaves the replicas with what they have seen, for a while that differs between them.
func cutWatches(ctx context.Context, w *world, random *rand.Rand) error {
	watches := 0
	for _, r := range w.replicas {
		watches += r.wire.cut(time.Duration(random.IntN(3000)) * time.Millisecond)
	}
	if watches == 0 {
		return errNotFired
	}
	pass(ctx, time.Second)
	return nil
}

// loseAnswers has writes succeed whose answers never come.
func loseAnswers(ctx context.Context, w *world, random *rand.Rand) error {
	n := 1 + random.IntN(5)
	first, second := w.replicas[0].wire.loseAnswers(n), w.replicas[1].wire.loseAnswers(n)
	defer w.replicas[0].wire.loseAnswers(0)
	defer w.replicas[1].wire.loseAnswers(0)
	return await(ctx, first, second)
}

// die has one replica started with a failpoint. Where one leads, the other one is out of its way until that has fired.
func die(ctx context.Context, w *world, which int, name failpoint.Name) error {
	armed, other := w.replicas[which], w.replicas[1-which]
	fired := armed.arm(name)
	if w.mode == elected {
		other.down()
		defer other.up()
	}
	defer armed.disarm()
	return await(ctx, fired, nil)
}

// await waits, for as long as it makes sense, until one of two things has happened.
func await(ctx context.Context, one, other <-chan struct{}) error {
	select {
	case <-one:
		return nil
	case <-other:
		return nil
	case <-time.After(10 * lease):
		return errNotFired
	case <-ctx.Done():
		return ctx.Err()
	}
}
