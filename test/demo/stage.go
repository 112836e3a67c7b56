package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// stage is what one step plays on: the world, what the step says to whoever watches, and what the API server
// answered it.
type stage struct {
	*world
	mu      sync.Mutex
	said    []string
	answers []answer
	seen    map[string]*v1alpha1.TaskSubmission
}

// answer is what the API server said to one request.
type answer struct {
	request string // "create" or "update"
	reason  string // "Created", "OK", or the reason of the refusal
	message string
}

// say adds a line to what the step prints.
func (s *stage) say(format string, arguments ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, fmt.Sprintf(format, arguments...))
}

// submission makes a manifest: the key where it is no name, the template, and the parameters as JSON.
func (s *stage) submission(key, template, parameters string) *v1alpha1.TaskSubmission {
	name, err := v1alpha1.NameForKey(key)
	if err != nil {
		panic(err) // a key in this package is wrong
	}
	submission := &v1alpha1.TaskSubmission{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: v1alpha1.TaskSubmissionSpec{
			TemplateRef: v1alpha1.TemplateRef{Name: template},
			Parameters:  apiextensionsv1.JSON{Raw: []byte(parameters)},
		},
	}
	if name != key {
		submission.Spec.IdempotencyKey = key
	}
	return submission
}

// traced gives a manifest a trace context.
func traced(submission *v1alpha1.TaskSubmission, traceID string) *v1alpha1.TaskSubmission {
	submission.Annotations = map[string]string{v1alpha1.AnnotationTraceparent: "00-" + traceID + "-00f067aa0ba902b7-01"}
	return submission
}

// create sends a create and notes the answer; a refusal is an answer, too. The error is for when there was none.
func (s *stage) create(ctx context.Context, api client.Client, submission *v1alpha1.TaskSubmission) error {
	return s.note("create", "Created", api.Create(ctx, submission))
}

// update sends an update and notes the answer.
func (s *stage) update(ctx context.Context, submission *v1alpha1.TaskSubmission) error {
	return s.note("update", "OK", s.api.Update(ctx, submission))
}

func (s *stage) note(request, reason string, err error) error {
	given := answer{request: request, reason: reason}
	if err != nil {
		var status apierrors.APIStatus
		if !errors.As(err, &status) {
			return err
		}
		given.reason, given.message = string(status.Status().Reason), status.Status().Message
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, given)
	return nil
}

// submit creates a submission that nobody has created before.
func (s *stage) submit(ctx context.Context, submission *v1alpha1.TaskSubmission) error {
	if err := s.create(ctx, s.api, submission); err != nil {
		return err
	}
	if submission.UID == "" {
		return fmt.Errorf("%s was refused: %s", submission.Name, s.answers[len(s.answers)-1].message)
	}
	return nil
}

// finished waits until a submission is Success or Failed.
func (s *stage) finished(ctx context.Context, submission *v1alpha1.TaskSubmission) (*v1alpha1.TaskSubmission, error) {
	return s.journal.await(ctx, submission.UID, "finished", func(now *v1alpha1.TaskSubmission, _ bool) bool {
		return now.Status.Phase.Terminal()
	})
}

// reaches waits until a submission has a reason.
func (s *stage) reaches(ctx context.Context, submission *v1alpha1.TaskSubmission, reason v1alpha1.Reason) error {
	_, err := s.journal.await(ctx, submission.UID, string(reason), func(now *v1alpha1.TaskSubmission, _ bool) bool {
		return now.Status.Reason == reason
	})
	return err
}

// remove deletes a submission and waits until it is gone.
func (s *stage) remove(ctx context.Context, submission *v1alpha1.TaskSubmission) error {
	if err := s.api.Delete(ctx, submission); err != nil {
		return err
	}
	_, err := s.journal.await(ctx, submission.UID, "deleted", func(_ *v1alpha1.TaskSubmission, deleted bool) bool { return deleted })
	return err
}

// read reads a submission as a client of its own would, and remembers what it was shown.
func (s *stage) read(ctx context.Context, who string, submission *v1alpha1.TaskSubmission) error {
	api, err := connect(s.plane.Config)
	if err != nil {
		return err
	}
	var shown v1alpha1.TaskSubmission
	if err := api.Get(ctx, client.ObjectKeyFromObject(submission), &shown); err != nil {
		return err
	}
	s.remember(who, &shown)
	return nil
}

// remember keeps an object as the API server showed it, for the verdict: it may be deleted or replaced later.
func (s *stage) remember(label string, submission *v1alpha1.TaskSubmission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[label] = submission
}

// result of a submission on one line.
func result(s *v1alpha1.TaskSubmission) string {
	if s == nil || s.Status.Result == nil {
		return "nothing"
	}
	return strings.TrimSpace(string(s.Status.Result.Raw))
}
