package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// withoutSubmission is how many actions wait for a person although their submission is gone, by template, as the last sweep
// found. The cache, from which the others are counted, does not have them.
type withoutSubmission struct {
	mu     sync.Mutex
	counts map[string]int
}

func (w *withoutSubmission) set(counts map[string]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts = counts
}

// WithoutSubmission returns how many actions wait for a person although their submission is gone, by template.
func (r *Submissions) WithoutSubmission() map[string]int {
	r.withoutSubmission.mu.Lock()
	defer r.withoutSubmission.mu.Unlock()
	return maps.Clone(r.withoutSubmission.counts)
}

// countWithoutSubmission counts them anew.
func (l *DueLoop) countWithoutSubmission(ctx context.Context) error {
	r, counts := l.Submissions, map[string]int{}
	complete, err := l.everywhere(func(namespace string) (unread error) {
		err := r.Records.EachAsking(ctx, namespace, func(record *v1alpha1.TaskRecord) {
			err := r.Client.Get(ctx, actionOf(record), &v1alpha1.TaskSubmission{})
			if apierrors.IsNotFound(err) {
				counts[record.Spec.Template]++
				return
			}
			unread = errors.Join(unread, err)
		})
		return errors.Join(err, unread)
	})
	if complete {
		r.withoutSubmission.set(counts)
	}
	if apierrors.IsBadRequest(err) {
		return fmt.Errorf("what waits for a person without its submission is not counted, since the kinds are older than this operator: upgrade them (config/crd): %w", err)
	}
	return err
}
