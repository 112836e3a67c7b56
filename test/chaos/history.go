package main

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

type operationKind string

const (
	opSubmit operationKind = "submit"
	opRead   operationKind = "read"
	opDelete operationKind = "delete"
	opDecide operationKind = "decide"
)

// operation is what a client asks for.
type operation struct {
	key     string
	kind    operationKind
	payload int // of a submit

	// forced: of a delete that took the finalizer away. Two at once both succeed, for the API server ignores that the
	// other one was first (registry/generic: "Deletion is racy").
	forced bool

	// of a decision
	decision v1alpha1.DecisionAction
	attempt  int32
}

// observation is what a client was told.
type observation struct {
	// certain is false where the answer was lost: it may have happened, and later still.
	certain bool
	// unsent says that it certainly never reached the API server.
	unsent bool
	// done: it was created, deleted or found. Else: it existed already, or there was none.
	done bool

	// of a read that found something
	phase  v1alpha1.Phase
	reason v1alpha1.Reason
	digest string
	spec   string // the digest of its payload

	uid      types.UID
	attempts int32
	message  string
}

func (o *observation) see(s *v1alpha1.TaskSubmission) {
	o.phase, o.reason, o.digest = s.Status.Phase, s.Status.Reason, s.Status.ResultDigest
	o.uid, o.attempts, o.message = s.UID, s.Status.Attempts, s.Status.Message
	o.spec, _ = v1alpha1.PayloadDigest(&s.Spec)
}

// lost notes that there was no answer.
func (o *observation) lost(err error) {
	o.unsent = utilnet.IsConnectionRefused(err)
}

// verdict reports whether the key's action itself came to an end, and not only this submission.
func (o *observation) verdict() bool {
	return o.phase.Terminal() && !aboutInput(o.reason)
}

// aboutInput reports whether a reason is about one submission, and says nothing of its key's action.
func aboutInput(reason v1alpha1.Reason) bool {
	switch reason {
	case v1alpha1.ReasonKeyReused, v1alpha1.ReasonInvalidParameters, v1alpha1.ReasonKeyMismatch, v1alpha1.ReasonInvalidName:
		return true
	}
	return false
}

// event is one operation of one client.
type event struct {
	client int
	operation
	observation
	call, back time.Duration // since the history began
}

// history is what all clients asked for and were told.
type history struct {
	begun  time.Time
	mu     sync.Mutex
	events []event
}

func (h *history) record(client int, o operation, do func(*observation)) observation {
	e := event{client: client, operation: o, call: time.Since(h.begun)}
	do(&e.observation)
	e.back = time.Since(h.begun)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
	return e.observation
}

// keys returns every key that was asked for, once.
func (h *history) keys() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []string
	known := map[string]bool{}
	for _, e := range h.events {
		if e.kind == opSubmit && !known[e.key] {
			known[e.key] = true
			list = append(list, e.key)
		}
	}
	return list
}
