package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// state of one key, as its clients may know it. The API server's part is a register: there is a submission or there
// is none. The operator's part is the first end: whoever was told it fixes it for everyone, whatever happens to
// submissions afterwards.
type state struct {
	exists  bool
	payload int
	ended   bool
	end     end
	// told is what the present submission was seen to have ended with: that does not change while it exists.
	told bool
}

// end is how an action ended, for everyone.
type end struct {
	phase, digest string
}

// told is what a client was told, as the model compares it.
type told struct {
	certain, done bool
	payload       int // of a submission that was read
	terminal      bool
	refused       bool // by its own input, which says nothing of the action
	end           end
}

// step says whether the key may answer so in this state, and what its state is then.
func step(s state, asked operation, answer told) (bool, state) {
	if !answer.certain {
		return true, maybe(s, asked)
	}
	switch asked.kind {
	case opSubmit:
		if answer.done == s.exists {
			return false, s
		}
		if answer.done {
			s.exists, s.payload, s.told = true, asked.payload, false
		}
		return true, s
	case opDelete:
		ok := answer.done == s.exists
		s.exists, s.told = false, false
		return ok, s
	default:
		return read(s, answer)
	}
}

// maybe is the state after something whose answer was lost and that did happen. That it did not happen needs no case
// of its own: it is then put at the end of the history, where nobody sees it.
func maybe(s state, asked operation) state {
	switch asked.kind {
	case opSubmit:
		if !s.exists {
			s.exists, s.payload, s.told = true, asked.payload, false
		}
	case opDelete:
		s.exists, s.told = false, false
	}
	return s
}

func read(s state, answer told) (bool, state) {
	switch {
	case answer.done != s.exists:
		return false, s
	case !answer.done:
		return true, s
	case answer.payload != s.payload:
		return false, s
	case !answer.terminal:
		return !s.told, s // an end is never taken back while the submission exists
	}
	s.told = true
	switch {
	case answer.refused:
		return true, s
	case s.ended:
		return s.end == answer.end, s
	}
	s.ended, s.end = true, answer.end
	return true, s
}

var model = porcupine.Model{
	Partition: byKey,
	Init:      func() any { return state{} },
	Step: func(s, input, output any) (bool, any) {
		ok, next := step(s.(state), input.(operation), output.(told))
		return ok, next
	},
	DescribeOperation: func(input, output any) string {
		return describe(input.(operation), output.(told))
	},
	DescribeState: func(s any) string { return fmt.Sprintf("%+v", s) },
}

func byKey(history []porcupine.Operation) [][]porcupine.Operation {
	keys := map[string][]porcupine.Operation{}
	for _, o := range history {
		key := o.Input.(operation).key
		keys[key] = append(keys[key], o)
	}
	var parts [][]porcupine.Operation
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		parts = append(parts, keys[key])
	}
	return parts
}

func describe(asked operation, answer told) string {
	text := fmt.Sprintf("%s %s", asked.kind, asked.key)
	if asked.kind == opSubmit {
		text += fmt.Sprintf(" payload %d", asked.payload)
	}
	switch {
	case !answer.certain:
		return text + ": no answer"
	case asked.kind != opRead || !answer.done:
		return fmt.Sprintf("%s: %t", text, answer.done)
	default:
		return fmt.Sprintf("%s: payload %d, ended %t, refused %t, %v", text, answer.payload, answer.terminal, answer.refused, answer.end)
	}
}

// operations turns a history into what porcupine checks. Reads without an answer say nothing; what else has none may
// happen at any time after it was asked for.
func operations(events []event, payloadOf func(key, digest string) int) []porcupine.Operation {
	var list []porcupine.Operation
	for _, e := range events {
		if e.kind == opRead && !e.certain {
			continue
		}
		back := int64(e.back)
		if !e.certain {
			back = math.MaxInt64
		}
		answer := told{certain: e.certain, done: e.done}
		if e.kind == opRead && e.done {
			answer.payload, answer.terminal, answer.refused = payloadOf(e.key, e.spec), e.phase.Terminal(), aboutInput(e.reason)
			if answer.terminal && !answer.refused {
				answer.end = end{string(e.phase), e.digest}
			}
		}
		list = append(list, porcupine.Operation{ClientId: e.client, Input: e.operation, Call: int64(e.call), Output: answer, Return: back})
	}
	return list
}

// linearizable checks a history, and draws one that fails.
func linearizable(history []porcupine.Operation, picture string) (wrong []string) {
	const limit = time.Minute
	result, _ := porcupine.CheckOperationsVerbose(model, history, limit)
	switch result {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return []string{fmt.Sprintf("the clients' history could not be checked within %s", limit)}
	}
	for _, part := range byKey(history) {
		result, info := porcupine.CheckOperationsVerbose(model, part, limit)
		if result == porcupine.Ok {
			continue
		}
		key := part[0].Input.(operation).key
		said := fmt.Sprintf("I6: no order of what the clients of %s did explains what they were told", key)
		if err := porcupine.VisualizePath(model, info, picture); err != nil {
			return append(wrong, fmt.Sprintf("%s; it could not be drawn: %v", said, err))
		}
		return append(wrong, fmt.Sprintf("%s: open %s", said, picture))
	}
	return append(wrong, "I6: the clients' history is not linearizable")
}
