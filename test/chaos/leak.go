package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// census is what a replica says it holds.
type census struct {
	InFlight, Remembered, Waiting []types.NamespacedName
	Goroutines                    map[string]int
}

// ownWork starts goroutines as connections come and go: those to the API server that are idle, and that of the census.
var ownWork = []string{"net/http.(*Transport).dialConn", "net/http.(*Server).Serve", "net/http.(*connReader).startBackgroundRead"}

// firstEvent starts goroutines once in a process: an idle one tells no event.
var firstEvent = []string{"k8s.io/client-go/tools/events.", "k8s.io/client-go/tools/record.", "k8s.io/apimachinery/pkg/watch.New"}

// allowed is how many goroutines of a starter a replica may have beyond an idle one.
func allowed(starter string) int {
	if slices.ContainsFunc(firstEvent, func(of string) bool { return strings.HasPrefix(starter, of) }) {
		return 2
	}
	return 0
}

// leaks starts another replica that had nothing to do yet, and waits until the others hold no more than that one beside
// the actions that have not ended. What they still hold after the patience is leaked.
func (w *world) leaks(ctx context.Context, e *evidence) (left []string, err error) {
	idle, err := w.supervise("idle", active)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, idle.close()) }()
	open := e.open()
	err = until(ctx, "the replicas to hold nothing", func(ctx context.Context) (bool, error) {
		var now []string
		baseline, err := idle.holds(ctx)
		for i, r := range w.replicas {
			held, heldErr := r.holds(ctx)
			err = errors.Join(err, heldErr)
			for _, what := range held.beyond(baseline, open) {
				now = append(now, fmt.Sprintf("leak: replica %d has %s", i+1, what))
			}
		}
		if err != nil {
			now = append(now, fmt.Sprintf("leak: a replica does not say what it holds: %v", err))
		}
		if ctx.Err() == nil { // else nobody had the time to answer
			left = now
		}
		return len(left) == 0, nil
	})
	if len(left) > 0 {
		return left, nil
	}
	return nil, err
}

// open are the actions that have not ended.
func (e *evidence) open() map[types.NamespacedName]bool {
	open := map[types.NamespacedName]bool{}
	for key, s := range e.submissions {
		if !s.Status.Phase.Terminal() {
			open[types.NamespacedName{Namespace: s.Namespace, Name: s.Name}] = true
		}
		if r, ok := e.records[key]; ok && !r.Spec.Action.Phase.Terminal() {
			open[types.NamespacedName{Namespace: s.Namespace, Name: s.Name}] = true
		}
	}
	return open
}

// beyond says what is held beyond what an idle replica holds and the open actions account for.
func (c *census) beyond(idle *census, open map[types.NamespacedName]bool) []string {
	var list []string
	if len(c.InFlight) > 0 {
		list = append(list, fmt.Sprintf("places in the in-flight table: %v", c.InFlight))
	}
	goesOn := func(action types.NamespacedName) bool { return open[action] }
	if of := slices.DeleteFunc(slices.Clone(c.Remembered), goesOn); len(of) > 0 {
		list = append(list, fmt.Sprintf("a memory of what has ended: %v", of))
	}
	if of := slices.DeleteFunc(slices.Clone(c.Waiting), goesOn); len(of) > 0 {
		list = append(list, fmt.Sprintf("a place in the queue for a business key for what has ended: %v", of))
	}
	for _, starter := range slices.Sorted(maps.Keys(c.Goroutines)) {
		if n := c.Goroutines[starter] - idle.Goroutines[starter]; n > allowed(starter) && !slices.Contains(ownWork, starter) {
			list = append(list, fmt.Sprintf("%d goroutines more than an idle one that %s started", n, starter))
		}
	}
	return list
}

// holds asks a replica what it holds.
func (r *replica) holds(ctx context.Context) (*census, error) {
	c := &census{}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.census, http.NoBody)
	if err != nil {
		return c, err
	}
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return c, err
	}
	defer answer.Body.Close()
	return c, json.NewDecoder(answer.Body).Decode(c)
}
