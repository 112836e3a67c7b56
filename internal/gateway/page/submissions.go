package page

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// submissions are those of a namespace, or of all: what has not finished as rows, and what has as history. They are a
// store of client-go's reflector.
type submissions struct {
	now func() time.Time

	mu      sync.Mutex
	living  map[types.NamespacedName]Row
	history history
	// ended is when the last one that was told of finished, by the operator's clock.
	ended time.Time
	// read is what a list that is under way has found. What it holds becomes what is known by Replace.
	read *submissions
}

func newSubmissions(now func() time.Time) *submissions {
	return &submissions{now: now, living: map[types.NamespacedName]Row{}}
}

// begin and keep take a list in, page by page: what has finished long ago is not held, however much there is. What was counted
// before stays, also where it has been deleted since, and what is told of for the second time is not counted again.
func (s *submissions) begin() {
	s.read = newSubmissions(s.now)
	s.read.history, s.read.ended = s.history.clone(), s.ended
}

func (s *submissions) keep(page client.ObjectList) {
	list := page.(*v1alpha1.TaskSubmissionList)
	for i := range list.Items {
		if submission := &list.Items[i]; !submission.Status.Phase.Terminal() || s.unheard(submission) {
			s.read.take(submission)
		}
	}
}

// unheard reports whether something finished while nothing was heard: it was in process before, or finished after all that
// had been told of.
func (s *submissions) unheard(finished *v1alpha1.TaskSubmission) bool {
	_, lived := s.living[client.ObjectKeyFromObject(finished)]
	return lived || timeOf(finished.Status.CompletedAt).After(s.ended)
}

// take notes a submission as it is. What finishes is counted when it does, and not when it is changed after that.
func (s *submissions) take(submission *v1alpha1.TaskSubmission) {
	row := rowOf(submission)
	if !row.Phase.Terminal() {
		s.living[row.NamespacedName] = row
		return
	}
	delete(s.living, row.NamespacedName)
	if row.Ended.After(s.ended) {
		s.ended = row.Ended
	}
	s.history.add(row, s.now())
}

// Replace implements cache.ReflectorStore, with what begin and keep have taken in.
func (s *submissions) Replace([]any, string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.living, s.history, s.ended, s.read = s.read.living, s.read.history, s.read.ended, nil
	return nil
}

// Add implements cache.ReflectorStore.
func (s *submissions) Add(object any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(object.(*v1alpha1.TaskSubmission))
	return nil
}

// Update implements cache.ReflectorStore.
func (s *submissions) Update(object any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	submission := object.(*v1alpha1.TaskSubmission)
	if _, lives := s.living[client.ObjectKeyFromObject(submission)]; lives || !submission.Status.Phase.Terminal() {
		s.take(submission)
	}
	return nil
}

// Delete implements cache.ReflectorStore.
func (s *submissions) Delete(object any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.living, client.ObjectKeyFromObject(object.(*v1alpha1.TaskSubmission)))
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *submissions) Resync() error { return nil }
