package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

const templateName = "award-points"

// templateSpec is the sample of that name without its business key: the straight path with the fewest writes. It has
// no defaults, which are the API server's to add; the time-out is one that no slow machine meets.
const templateSpec = `{
	"parametersSchema": {"openAPIV3Schema": {
		"type": "object",
		"required": ["taskId", "studentId", "submitVersion", "points"],
		"properties": {
			"taskId": {"type": "integer", "minimum": 1},
			"studentId": {"type": "string", "minLength": 1, "maxLength": 64},
			"submitVersion": {"type": "integer", "minimum": 1},
			"points": {"type": "integer", "minimum": 1, "maximum": 1000}
		}
	}},
	"effect": {"http": {"method": "POST", "url": %q, "timeout": "1m"}}
}`

func (w *world) template(namespace string) (*unstructured.Unstructured, error) {
	template := &unstructured.Unstructured{Object: map[string]any{}}
	template.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("TaskTemplate"))
	template.SetNamespace(namespace)
	template.SetName(templateName)
	var spec map[string]any
	err := json.Unmarshal(fmt.Appendf(nil, templateSpec, w.receiver.url+"/points"), &spec)
	template.Object["spec"] = spec
	return template, err
}

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
}

// through measures submissions that the operator carries out, from the first create to the last Success that a watch
// shows.
func (w *world) through(ctx context.Context, l load) (Phase, error) {
	namespace, err := w.prepare(ctx)
	if err != nil {
		return Phase{}, err
	}
	f, err := follow(ctx, w.api, namespace)
	if err != nil {
		return Phase{}, err
	}
	phase, err := w.measure(ctx, l.n, func(ctx context.Context) error {
		if err := w.submit(ctx, f, l); err != nil {
			return err
		}
		for i := range l.n {
			if _, err := f.success(ctx, submission(namespace, i).Name); err != nil {
				return err
			}
		}
		return nil
	})
	f.close()
	if err == nil {
		f.tell(&phase)
	}
	return phase, err
}

// submit makes all submissions of a load.
func (w *world) submit(ctx context.Context, f *follower, l load) error {
	clients := l.clients
	var ticks <-chan time.Time
	if l.every > 0 {
		clients = l.n
		ticker := time.NewTicker(l.every)
		defer ticker.Stop()
		ticks = ticker.C
	}
	return inFlight(ctx, clients, l.n, func(ctx context.Context, i int) error {
		if ticks != nil {
			<-ticks
		}
		s := w.expect(submission(f.namespace, i))
		f.begin(s.Name)
		if err := w.api.Create(ctx, s); err != nil || l.burst {
			return err
		}
		_, err := f.success(ctx, s.Name)
		return err
	})
}

// prepare returns a fresh namespace with the template, once the operator has seen that.
func (w *world) prepare(ctx context.Context) (string, error) {
	namespace, err := w.plane.Namespace(ctx)
	if err != nil {
		return "", err
	}
	template, err := w.template(namespace)
	if err != nil {
		return "", err
	}
	if err := w.api.Create(ctx, template); err != nil {
		return "", err
	}
	return namespace, until(ctx, "the template to be ready", func(ctx context.Context) (bool, error) {
		compiled := &v1alpha1.TaskTemplate{}
		err := w.api.Get(ctx, client.ObjectKeyFromObject(template), compiled)
		return len(compiled.Status.Conditions) > 0, err
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
