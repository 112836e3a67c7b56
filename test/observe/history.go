package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Answers to a create.
const (
	created = "created"
	refused = "refused" // by admission
	exists  = "exists"  // AlreadyExists, by the API server
)

// sent is one create of a client.
type sent struct {
	template, key, answer string
	at                    time.Time
	// found is what the client knows to be there; empty: nothing, or it is not known.
	found string
	// again says that an earlier submission of the key was deleted.
	again bool
}

// history is what the clients have done and seen.
type history struct {
	mu        sync.Mutex
	sent      []sent
	decisions []v1alpha1.TaskDecisionSpec
	// finished is when a client first saw that a submission had finished.
	finished map[string]time.Time
}

// follow begins a history: a client watches all submissions to the end of the run.
func (w *world) follow(ctx context.Context) (*history, error) {
	h := &history{finished: map[string]time.Time{}}
	watcher, err := w.api.Watch(ctx, &v1alpha1.TaskSubmissionList{}, client.InNamespace(w.namespace), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}})
	if err != nil {
		return nil, err
	}
	w.close = append(w.close, func() error { watcher.Stop(); return nil })
	go func() {
		for event := range watcher.ResultChan() {
			if submission, ok := event.Object.(*v1alpha1.TaskSubmission); ok && event.Type != watch.Deleted {
				h.see(submission)
			}
		}
	}()
	return h, nil
}

func (h *history) see(submission *v1alpha1.TaskSubmission) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.finished[submission.Name]; !known && submission.Status.Phase.Terminal() {
		h.finished[submission.Name] = time.Now()
	}
}

// take notes a create and its answer.
func (h *history) take(s sent, err error) error {
	switch {
	case err == nil:
		s.answer = created
	case apierrors.IsAlreadyExists(err):
		s.answer = exists
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		s.answer = refused
	default:
		return fmt.Errorf("creating %s: %w", s.key, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = append(h.sent, s)
	return nil
}

// names returns everything that no label may hold: what clients and receivers call things.
func (h *history) names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []string
	for _, s := range h.sent {
		all = append(all, s.key)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// has counts what fits.
func (h *history) has(fits func(sent) bool) (n float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sent {
		if fits(s) {
			n++
		}
	}
	return n
}
