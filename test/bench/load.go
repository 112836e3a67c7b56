package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/bench/report"
)

// submission returns the nth of a namespace. All names are of one length.
func submission(namespace string, n int) *v1alpha1.TaskSubmission {
	return &v1alpha1.TaskSubmission{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("task-42-stu-%06d-v3", n)},
		Spec: v1alpha1.TaskSubmissionSpec{
			TemplateRef: v1alpha1.TemplateRef{Name: templateName},
			Parameters:  apiextensionsv1.JSON{Raw: fmt.Appendf(nil, `{"taskId": 42, "studentId": "stu-%06d", "submitVersion": 3, "points": 10}`, n)},
		},
	}
}

// load is how submissions are made.
type load struct {
	n int
	// clients is how many there are. Each waits for the end of its submission before it makes the next.
	clients int
	// burst: they do not wait.
	burst bool
	// every, where it is set, is the time between two creates in place of what the clients do.
	every time.Duration
	// kind is the template's; the zero value is the straight path.
	kind kind
	// labels of the namespace.
	labels map[string]string
	// of makes the nth submission; nil: submission does.
	of func(namespace string, n int) *v1alpha1.TaskSubmission
}

func (l load) submission(namespace string, n int) *v1alpha1.TaskSubmission {
	if l.of != nil {
		return l.of(namespace, n)
	}
	return submission(namespace, n)
}

// through measures submissions that the operator carries out, from the first create to the last Success that a watch
// shows.
func (w *world) through(ctx context.Context, l load) (report.Sample, error) {
	return w.throughBeside(ctx, l, func(ctx context.Context) error { <-ctx.Done(); return nil })
}

// throughBeside does so while something else goes on, which is told to end with its context and may end by itself.
func (w *world) throughBeside(ctx context.Context, l load, beside func(context.Context) error) (sample report.Sample, err error) {
	f, err := w.prepare(ctx, l.kind, l.labels)
	if err != nil {
		return sample, err
	}
	sample, err = w.measure(ctx, l.n, func(ctx context.Context) error {
		return alongside(ctx, beside, func(ctx context.Context) error { return w.submitAll(ctx, f, l) })
	})
	f.close()
	if err == nil {
		f.tell(&sample)
	}
	return sample, err
}

// alongside does something while something else goes on, and waits for both. What else goes on may end with the context's
// error, since it is told to end.
func alongside(ctx context.Context, beside, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, 1)
	go func() { failed <- beside(ctx) }()
	err := do(ctx)
	cancel()
	if other := <-failed; err == nil && other != nil && !errors.Is(other, context.Canceled) {
		err = fmt.Errorf("what goes on beside: %w", other)
	}
	return err
}

// submitAll makes all submissions of a load and waits for their Success.
func (w *world) submitAll(ctx context.Context, f *follower, l load) error {
	if err := w.submit(ctx, f, l); err != nil {
		return err
	}
	return w.awaitAll(ctx, f, l)
}

// awaitAll waits for the Success of all submissions of a load, each of which has its effect.
func (w *world) awaitAll(ctx context.Context, f *follower, l load) error {
	for i := range l.n {
		ended, err := f.success(ctx, l.submission(f.namespace, i).Name)
		if err != nil {
			return err
		}
		if ended.Status.Reason != v1alpha1.ReasonAlreadyApplied {
			w.expect(ended)
		}
	}
	return nil
}

// submit makes all submissions of a load.
func (w *world) submit(ctx context.Context, f *follower, l load) error {
	return paced(ctx, l.clients, l.n, l.every, func(ctx context.Context, i int) error {
		s := l.submission(f.namespace, i)
		f.begin(s.Name)
		if err := w.api.Create(ctx, s); err != nil || l.burst {
			return err
		}
		_, err := f.success(ctx, s.Name)
		return err
	})
}

// prepare follows a fresh namespace with the template, once the operator has seen that.
func (w *world) prepare(ctx context.Context, k kind, labels map[string]string) (*follower, error) {
	namespace, err := w.plane.Namespace(ctx)
	if err != nil {
		return nil, err
	}
	if len(labels) > 0 {
		if err := w.label(ctx, namespace, labels); err != nil {
			return nil, err
		}
	}
	return w.prepareIn(ctx, namespace, k)
}

// prepareIn does so in a namespace that is there.
func (w *world) prepareIn(ctx context.Context, namespace string, k kind) (*follower, error) {
	if err := w.install(ctx, namespace, k); err != nil {
		return nil, err
	}
	return follow(ctx, w.api, namespace)
}

// label labels a namespace.
func (w *world) label(ctx context.Context, namespace string, labels map[string]string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
	if err != nil {
		return err
	}
	_, err = w.clients.CoreV1().Namespaces().Patch(ctx, namespace, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// install creates the template and waits until the operator has seen it.
func (w *world) install(ctx context.Context, namespace string, k kind) error {
	template, err := w.template(namespace, k)
	if err != nil {
		return err
	}
	if err := w.api.Create(ctx, template); err != nil {
		return err
	}
	return until(ctx, "the template to be ready", func(ctx context.Context) (bool, error) {
		compiled := &v1alpha1.TaskTemplate{}
		err := w.api.Get(ctx, client.ObjectKeyFromObject(template), compiled)
		return len(compiled.Status.Conditions) > 0, err
	})
}

// paced does something n times: so many at once or, where every is set, one after each such time.
func paced(ctx context.Context, clients, n int, every time.Duration, do func(ctx context.Context, i int) error) error {
	if every == 0 {
		return inFlight(ctx, clients, n, do)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	return inFlight(ctx, n, n, func(ctx context.Context, i int) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
			return do(ctx, i)
		}
	})
}

// inFlight does something n times, so many at once. The first error ends it.
func inFlight(ctx context.Context, clients, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var work sync.WaitGroup
	for range min(clients, n) {
		work.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	work.Wait()
	return context.Cause(ctx)
}
