package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/test/bench/report"
)

// follower watches the submissions of a namespace, as a client would that wants to know their ends.
type follower struct {
	api       client.WithWatch
	namespace string
	stop      context.CancelFunc
	over      chan struct{} // closed when it watches no more
	err       error         // why; to be read after over

	mu   sync.Mutex
	ends map[string]*end
	// between counts the statuses on the way, each of which was a write, by phase and reason.
	between map[string]int
}

// end is what is known of a submission's way to its end.
type end struct {
	begun   time.Time // before its create
	between int
	said    bool          // a status of it was seen, by whatever event: a watch that was begun anew shows it as added
	come    chan struct{} // closed when it has ended
	at      time.Time
	last    *v1alpha1.TaskSubmission
}

// follow returns when the watch stands.
func follow(ctx context.Context, api client.WithWatch, namespace string) (*follower, error) {
	ctx, stop := context.WithCancel(ctx)
	f := &follower{api: api, namespace: namespace, stop: stop, over: make(chan struct{}), ends: map[string]*end{}, between: map[string]int{}}
	watching, err := f.watch(ctx)
	if err != nil {
		stop()
		return nil, err
	}
	go f.run(ctx, watching)
	return f, nil
}

// watch begins with what is there.
func (f *follower) watch(ctx context.Context) (watch.Interface, error) {
	return f.api.Watch(ctx, &v1alpha1.TaskSubmissionList{}, client.InNamespace(f.namespace))
}

func (f *follower) run(ctx context.Context, watching watch.Interface) {
	defer close(f.over)
	for {
		for event := range watching.ResultChan() {
			if submission, ok := event.Object.(*v1alpha1.TaskSubmission); ok {
				f.see(event.Type, submission)
			}
		}
		if f.err = ctx.Err(); f.err != nil {
			return
		}
		if watching, f.err = f.watch(ctx); f.err != nil {
			return
		}
	}
}

func (f *follower) see(kind watch.EventType, submission *v1alpha1.TaskSubmission) {
	f.mu.Lock()
	defer f.mu.Unlock()
	status := &submission.Status
	e := f.of(submission.Name)
	e.said = e.said || status.Reason != ""
	switch {
	case e.last != nil:
	case status.Phase.Terminal():
		e.at, e.last = time.Now(), submission
		close(e.come)
	case kind == watch.Modified:
		f.between[string(status.Phase)+"/"+string(status.Reason)]++
		e.between++
	}
}

func (f *follower) of(name string) *end {
	if f.ends[name] == nil {
		f.ends[name] = &end{come: make(chan struct{})}
	}
	return f.ends[name]
}

// begin notes the time before a create.
func (f *follower) begin(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(name).begun = time.Now()
}

// success returns the submission when its Success was seen. Any other end is an error.
func (f *follower) success(ctx context.Context, name string) (*v1alpha1.TaskSubmission, error) {
	f.mu.Lock()
	e := f.of(name)
	f.mu.Unlock()
	select {
	case <-e.come:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for %s to end: %w", name, context.Cause(ctx))
	case <-f.over:
		return nil, errors.Join(errors.New("the watch of submissions ended"), f.err)
	}
	if status := &e.last.Status; status.Phase != v1alpha1.PhaseSuccess {
		return nil, fmt.Errorf("%s is %s/%s: %s", name, status.Phase, status.Reason, status.Message)
	}
	return e.last, nil
}

// close ends the watch.
func (f *follower) close() {
	f.stop()
	<-f.over
}

// tell adds to a sample what was seen of it. To be called after close.
func (f *follower) tell(sample *report.Sample) {
	var took []time.Duration
	for _, e := range f.ends {
		latency := e.at.Sub(e.begun)
		took = append(took, latency)
		if latency < lifecycle.QuietFor {
			sample.Hasty += e.between
		}
	}
	percentiles(sample, took)
	sample.Between = f.between
}

// seen waits until so many statuses were shown on the way.
func (f *follower) seen(ctx context.Context, n int) error {
	return until(ctx, "what was submitted to be seen", func(context.Context) (bool, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		seen := 0
		for _, e := range f.ends {
			if e.said {
				seen++
			}
		}
		return seen >= n, nil
	})
}
