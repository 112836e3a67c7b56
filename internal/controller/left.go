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

// left is how many actions wait for a person although their submission is gone, by template, as the last sweep found. The
// cache, from which the others are counted, does not have them.
type left struct {
	mu     sync.Mutex
	counts map[string]int
}

func (l *left) set(counts map[string]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts = counts
}

// Left returns how many actions wait for a person although their submission is gone, by template.
func (r *Submissions) Left() map[string]int {
	r.left.mu.Lock()
	defer r.left.mu.Unlock()
	return maps.Clone(r.left.counts)
}

// countLeft counts them anew.
func (l *DueLoop) countLeft(ctx context.Context) error {
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
		r.left.set(counts)
	}
	if apierrors.IsBadRequest(err) {
		return fmt.Errorf("what waits for a person without its submission is not counted, since the kinds are older than this operator: upgrade them (config/crd): %w", err)
	}
	return err
}
