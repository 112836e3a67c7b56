package gateway_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// The state of one key, as callers may know it: nothing, or one payload that was first, and the result once it was told.
type state struct {
	payload string // "": nothing is there
	result  string // "": nobody was told one
}

// step is what a request asked for, or was told. A request that created something and waited for it is two steps within
// the same time: so another one may be told in between that it is in process.
type step struct {
	key  string
	kind stepKind
	// payload is that of a create; result is what was told.
	payload, result string
}

type stepKind string

const (
	created   stepKind = "created"            // by this very request
	maybe     stepKind = "created perhaps"    // the answer was lost
	there     stepKind = "there"              // before this request
	pending   stepKind = "in process"         // and nobody had the result
	ended     stepKind = "ended"              // with this result
	forOther  stepKind = "key of another one" // with another payload
	unsettled          = math.MaxInt64
)

var model = porcupine.Model{
	Init: func() any { return state{} },
	Step: func(s, input, _ any) (bool, any) {
		now, asked := s.(state), input.(step)
		ok := now.after(&asked)
		return ok, now
	},
	DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", input) },
	DescribeState:     func(s any) string { return fmt.Sprintf("%+v", s) },
}

// after changes the state as a step does, and says whether it may happen in it.
func (s *state) after(asked *step) bool {
	switch asked.kind {
	case created:
		ok := s.payload == ""
		s.payload = asked.payload
		return ok
	case maybe:
		if s.payload == "" {
			s.payload = asked.payload
		}
		return true
	case there:
		return s.payload == asked.payload
	case forOther:
		return s.payload != "" && s.payload != asked.payload
	case pending:
		return s.payload == asked.payload && s.result == ""
	default:
		ok := s.payload == asked.payload && (s.result == "" || s.result == asked.result)
		s.result = asked.result
		return ok
	}
}

// history is what all callers asked for and were told.
type history struct {
	begun      time.Time
	mu         sync.Mutex
	operations []porcupine.Operation
}

// add notes the steps of one request, which took from call to back. One whose answer was lost may happen at any time after.
func (h *history) add(client int, call time.Duration, steps ...step) {
	back := time.Since(h.begun)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range steps {
		o := porcupine.Operation{ClientId: client, Input: s, Call: int64(call), Return: int64(back)}
		if s.kind == maybe {
			o.Return = unsettled
		}
		h.operations = append(h.operations, o)
	}
}

// byKey parts the steps by key. Of the lost requests with one payload only the earliest is kept: it may happen at any time
// at which a later one may, and each of them would double the orders that there are.
func (h *history) byKey() map[string][]porcupine.Operation {
	keys := map[string][]porcupine.Operation{}
	lost := map[step]bool{}
	slices.SortFunc(h.operations, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	for _, o := range h.operations {
		s := o.Input.(step)
		if s.kind == maybe && lost[s] {
			continue
		}
		lost[s] = s.kind == maybe
		keys[s.key] = append(keys[s.key], o)
	}
	return keys
}

// wrong says of which keys no order explains the steps.
func (h *history) wrong() (sentences []string) {
	for key, operations := range h.byKey() {
		switch porcupine.CheckOperationsTimeout(model, operations, 2*time.Minute) {
		case porcupine.Ok:
		case porcupine.Unknown:
			sentences = append(sentences, "what the callers of "+key+" were told could not be checked in time")
		default:
			sentences = append(sentences, "no order explains what the callers of "+key+" were told")
		}
	}
	return sentences
}
