package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// model is one key's model as porcupine takes it.
var model = porcupine.Model{
	Init: func() any { return state{} },
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

// operations turns a history into what porcupine checks. What has no answer may happen at any time after it was asked
// for. Left out is what says nothing of the key: reads without an answer, what never left the client, and decisions that
// cannot take an end back. Each of them that might have happened would double the orders that there are.
func operations(events []event, payloadOf func(key, digest string) int) []porcupine.Operation {
	var list []porcupine.Operation
	for _, e := range events {
		if (e.kind == opRead && !e.certain) || e.unsent || (e.kind == opDecide && e.decision != v1alpha1.DecisionRetry) {
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

// checkLimit is how long the check of one key may take. It takes milliseconds, unless many answers to it were lost.
const checkLimit = 2 * time.Minute

// linearizable checks a history key by key, and draws the first that fails.
func linearizable(history []porcupine.Operation, picture string) (wrong []string) {
	for _, part := range byKey(history) {
		key := part[0].Input.(operation).key
		switch porcupine.CheckOperationsTimeout(model, part, checkLimit) {
		case porcupine.Ok:
		case porcupine.Unknown:
			wrong = append(wrong, fmt.Sprintf("the history of %s, of %d operations, could not be checked within %s", key, len(part), checkLimit))
		default:
			said := fmt.Sprintf("I6: no order of what the clients of %s did explains what they were told", key)
			if len(wrong) == 0 {
				said += drawn(part, picture)
			}
			wrong = append(wrong, said)
		}
	}
	return wrong
}

// drawn draws a history that fails, and says where the picture is.
func drawn(part []porcupine.Operation, picture string) string {
	_, info := porcupine.CheckOperationsVerbose(model, part, checkLimit)
	if err := porcupine.VisualizePath(model, info, picture); err != nil {
		return fmt.Sprintf("; it could not be drawn: %v", err)
	}
	return ": open " + picture
}
