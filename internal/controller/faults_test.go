package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// faults sits between an operator and the API server: it notes every request, and can be told to break some.
type faults struct {
	mu     sync.Mutex
	rules  []*rule
	notes  []string
	writes int
}

// rule is applied to the next requests that it matches, so many times.
type rule struct {
	verb    string // create, update, patch, status, delete or get
	matches func(client.Object) bool
	times   int
	do      func(object client.Object, send func(client.Object) error) error
}

var errConnection = errors.New("read tcp 127.0.0.1: connection reset by peer")

// lose lets a write land and loses its answer.
func (f *faults) lose(verb string, matches func(client.Object) bool) {
	f.on(verb, matches, 1, func(object client.Object, send func(client.Object) error) error {
		if err := send(object.DeepCopyObject().(client.Object)); err != nil {
			return err
		}
		return errConnection
	})
}

// refuse answers with an error, so many times, and sends nothing.
func (f *faults) refuse(verb string, matches func(client.Object) bool, times int, err error) {
	f.on(verb, matches, times, func(client.Object, func(client.Object) error) error { return err })
}

// before does something right before a request is sent.
func (f *faults) before(verb string, matches func(client.Object) bool, do func()) {
	f.on(verb, matches, 1, func(object client.Object, send func(client.Object) error) error {
		do()
		return send(object)
	})
}

func (f *faults) on(verb string, matches func(client.Object) bool, times int, do func(client.Object, func(client.Object) error) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, &rule{verb, matches, times, do})
}

// pending is how many rules have not been used up.
func (f *faults) pending() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.rules {
		if r.times > 0 {
			n++
		}
	}
	return n
}

// takeNotes returns the requests since it was asked last, such as "create TaskRecord".
func (f *faults) takeNotes() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	notes := f.notes
	f.notes = nil
	return notes
}

func (f *faults) written() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writes
}

func (f *faults) through(verb string, object client.Object, send func(client.Object) error) error {
	f.mu.Lock()
	f.notes = append(f.notes, verb+" "+strings.TrimPrefix(fmt.Sprintf("%T", object), "*v1alpha1."))
	if verb != "get" {
		f.writes++
	}
	var found *rule
	for _, r := range f.rules {
		if r.verb == verb && r.times > 0 && r.matches(object) {
			r.times--
			found = r
			break
		}
	}
	f.mu.Unlock()
	if found != nil {
		return found.do(object, send)
	}
	return send(object)
}

// intercepted wraps an operator's client. What a sweep lists is listed in one namespace only, so that specs do not meet.
func (f *faults) intercepted(inner client.WithWatch, namespace string, check func(*v1alpha1.TaskSubmission), landed func(*v1alpha1.TaskRecord)) client.WithWatch {
	note := func(object client.Object, err error) error {
		if err == nil && records(object) {
			landed(object.(*v1alpha1.TaskRecord))
		}
		return err
	}
	return interceptor.NewClient(inner, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return f.through("create", object, func(object client.Object) error { return note(object, c.Create(ctx, object, options...)) })
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			return f.through("update", object, func(object client.Object) error { return note(object, c.Update(ctx, object, options...)) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return f.through("patch", object, func(object client.Object) error { return c.Patch(ctx, object, patch, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return f.through("delete", object, func(object client.Object) error { return c.Delete(ctx, object, options...) })
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			return f.through("get", object, func(object client.Object) error { return c.Get(ctx, key, object, options...) })
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			switch list.(type) {
			case *v1alpha1.TaskRecordList, *v1alpha1.TaskSubmissionList, *v1alpha1.TaskDecisionList:
				options = append(options, client.InNamespace(namespace))
			}
			return c.List(ctx, list, options...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, name string, object client.Object, options ...client.SubResourceUpdateOption) error {
			if submission, ok := object.(*v1alpha1.TaskSubmission); ok {
				check(submission)
			}
			return f.through(name, object, func(object client.Object) error { return c.SubResource(name).Update(ctx, object, options...) })
		},
	})
}

// filtered is a client that sees submissions as the manager's cache does: those that have not finished.
func filtered(inner client.WithWatch) client.WithWatch {
	return interceptor.NewClient(inner, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			err := c.Get(ctx, key, object, options...)
			if submission, ok := object.(*v1alpha1.TaskSubmission); ok && err == nil && submission.Status.Phase.Terminal() {
				return apierrors.NewNotFound(schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: "tasksubmissions"}, key.Name)
			}
			return err
		},
	})
}

// What a rule matches.

func records(object client.Object) bool {
	record, ok := object.(*v1alpha1.TaskRecord)
	return ok && record.Spec.Action != nil
}

func claims(object client.Object) bool {
	record, ok := object.(*v1alpha1.TaskRecord)
	return ok && record.Spec.Holder != nil
}

func recordsIn(phase v1alpha1.Phase) func(client.Object) bool {
	return func(object client.Object) bool {
		return records(object) && object.(*v1alpha1.TaskRecord).Spec.Action.Phase == phase
	}
}

func submissions(object client.Object) bool {
	_, ok := object.(*v1alpha1.TaskSubmission)
	return ok
}

func decisions(object client.Object) bool {
	_, ok := object.(*v1alpha1.TaskDecision)
	return ok
}
