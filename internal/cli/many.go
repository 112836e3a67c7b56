package cli

import (
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// atOnce is how many requests are made at once, where something is asked for many.
const atOnce = 8

// submitted is what came of one submission.
type submitted struct {
	object *v1alpha1.TaskSubmission // nil: none is there
	line   string
	err    error
}

// tellAll does something for many, tells what came of each in their order, and returns what decides the exit code.
func tellAll[T any](s *session, output *output, items []T, do func(T) submitted) error {
	tally, progress := newTally(s.ErrOut), newProgress(s, len(items))
	var there []client.Object
	inOrder(items, func(item T) submitted {
		result := do(item)
		progress.step(result.err)
		return result
	}, func(_ T, result submitted) {
		progress.hide()
		if result.object != nil {
			there = append(there, result.object)
		}
		if result.line != "" && output.human() {
			fmt.Fprintln(s.Out, result.line)
		}
		tally.add(result.err)
	})
	progress.hide()
	return errors.Join(output.printAll(s.Out, there), tally.err())
}

// inOrder does something for many at once, and tells what came of each in the order in which they were given.
func inOrder[T, R any](items []T, do func(T) R, tell func(T, R)) {
	results := make([]chan R, len(items))
	for i := range results {
		results[i] = make(chan R, 1)
	}
	var group errgroup.Group
	group.SetLimit(atOnce)
	go func() {
		for i, item := range items {
			group.Go(func() error {
				results[i] <- do(item)
				return nil
			})
		}
	}()
	for i, item := range items {
		tell(item, <-results[i])
	}
}
