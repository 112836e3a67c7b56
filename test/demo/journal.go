package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// journal remembers every state of every submission that the API server told of, the deleted ones included. It is
// filled by one watch, so it holds what anybody could have seen.
type journal struct {
	mu      sync.Mutex
	states  map[types.UID][]*v1alpha1.TaskSubmission
	order   []types.UID
	deleted map[types.UID]bool
	changed chan struct{} // closed, and made anew, when something was added
	broken  error
	stop    func()
}

// follow begins the journal of a namespace in which there are no submissions yet.
func follow(ctx context.Context, c client.WithWatch, namespace string) (*journal, error) {
	var none v1alpha1.TaskSubmissionList
	if err := c.List(ctx, &none, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	events, err := c.Watch(ctx, &v1alpha1.TaskSubmissionList{}, client.InNamespace(namespace),
		&client.ListOptions{Raw: fromVersion(none.ResourceVersion)})
	if err != nil {
		return nil, err
	}
	j := &journal{states: map[types.UID][]*v1alpha1.TaskSubmission{}, deleted: map[types.UID]bool{}, changed: make(chan struct{}), stop: events.Stop}
	go func() {
		for event := range events.ResultChan() {
			j.add(event)
		}
		j.fail(errors.New("the watch on submissions ended"))
	}()
	return j, nil
}

func (j *journal) add(event watch.Event) {
	submission, ok := event.Object.(*v1alpha1.TaskSubmission)
	if !ok {
		j.fail(fmt.Errorf("the watch on submissions told %s: %v", event.Type, event.Object))
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, known := j.states[submission.UID]; !known {
		j.order = append(j.order, submission.UID)
	}
	j.states[submission.UID] = append(j.states[submission.UID], submission)
	j.deleted[submission.UID] = event.Type == watch.Deleted
	j.wake()
}

func (j *journal) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		j.broken = err
	}
	j.wake()
}

// wake tells everybody who waits. The lock is held.
func (j *journal) wake() {
	close(j.changed)
	j.changed = make(chan struct{})
}

// await returns the first state of a submission, from now on, that is as asked.
func (j *journal) await(ctx context.Context, uid types.UID, what string, ask func(s *v1alpha1.TaskSubmission, deleted bool) bool) (*v1alpha1.TaskSubmission, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		last, deleted, changed, err := j.look(uid)
		switch {
		case last != nil && ask(last, deleted):
			return last, nil
		case err != nil:
			return nil, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if last == nil {
				return nil, fmt.Errorf("waiting for a submission to be %s: it was never seen", what)
			}
			return nil, fmt.Errorf("waiting for %s to be %s: it is %s (%s)", last.Name, what, standing(last), last.Status.Message)
		}
	}
}

func (j *journal) look(uid types.UID) (last *v1alpha1.TaskSubmission, deleted bool, changed <-chan struct{}, broken error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if states := j.states[uid]; len(states) > 0 {
		last = states[len(states)-1]
	}
	return last, j.deleted[uid], j.changed, j.broken
}

// standings returns where the submissions of one name have stood, one after another, as "Phase/Reason".
func (j *journal) standings(name string) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []string
	for _, uid := range j.order {
		for _, state := range j.states[uid] {
			if now := standing(state); state.Name == name && (len(list) == 0 || list[len(list)-1] != now) {
				list = append(list, now)
			}
		}
	}
	return list
}

// standing of a submission in short.
func standing(s *v1alpha1.TaskSubmission) string {
	return string(s.Status.Phase) + "/" + string(s.Status.Reason)
}

// settle gives the journal the time to be told of what has happened: it returns when nothing was added for a while.
func (j *journal) settle(ctx context.Context) {
	for {
		_, _, changed, _ := j.look("")
		select {
		case <-changed:
		case <-time.After(5 * glance):
			return
		case <-ctx.Done():
			return
		}
	}
}
