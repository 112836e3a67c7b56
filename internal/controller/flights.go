package controller

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/internal/inflight"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// flight is one attempt or check that holds a slot in this process; package inflight has its meaning. It is an
// interface so that the model check can run the reconciler with flights that it steps itself.
type flight interface {
	Started() time.Time
	Deadline() time.Time
	Acknowledge()
	Launch(run func(context.Context) lifecycle.Report) bool
	Observe() lifecycle.Flight
	Remove()
}

// flights is the in-flight table as the reconciler uses it. A flight that is nil means that there is none.
type flights interface {
	Reserve(inflight.Ticket) (flight, inflight.Turn)
	Lookup(types.NamespacedName) flight
	GiveUpTurn(types.NamespacedName)
	Actions() []types.NamespacedName
	Keep(action, template types.NamespacedName)
	Free(types.NamespacedName)
	Close()
	Usage() []inflight.Usage
}

// table makes an inflight.Table flights.
type table struct{ *inflight.Table }

func (t table) Reserve(ticket inflight.Ticket) (flight, inflight.Turn) {
	reserved, turn := t.Table.Reserve(ticket)
	if reserved == nil {
		return nil, turn
	}
	return reserved, turn
}

func (t table) Lookup(action types.NamespacedName) flight {
	if found := t.Table.Lookup(action); found != nil {
		return found
	}
	return nil
}

// Usage is what of the limits is in use in this process.
func (r *Submissions) Usage() []inflight.Usage { return r.flights.Usage() }
