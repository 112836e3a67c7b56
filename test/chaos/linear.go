package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// model is the key's model as porcupine takes it.
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
	if asked.kind == opDecide {
		text += fmt.Sprintf(" %s of attempt %d", asked.decision, asked.attempt)
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
