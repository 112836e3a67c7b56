package submit_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/pkg/submit"
)

// watches acts on each watch request, counted from 1, and leaves the rest as it is.
func watches(act func(n int32, send func() (*http.Response, error)) (*http.Response, error)) roundTrip {
	var seen atomic.Int32
	return func(request *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		if request.URL.Query().Get("watch") == "" {
			return send()
		}
		return act(seen.Add(1), send)
	}
}

// begun sends each watch, and then does something to the submission.
func (w *world) begun(after func(n int32, response *http.Response)) roundTrip {
	return watches(func(n int32, send func() (*http.Response, error)) (*http.Response, error) {
		response, err := send()
		if err == nil {
			after(n, response)
		}
		return response, err
	})
}

func TestWaitSeesTheEnd(t *testing.T) {
	for _, phase := range []v1alpha1.Phase{v1alpha1.PhaseSuccess, v1alpha1.PhaseFailed} {
		t.Run(string(phase), func(t *testing.T) {
			w := newWorld(t)
			var s *submit.Submission
			s = w.prepare(w.client(w.begun(func(int32, *http.Response) { w.finish(s.Object(), phase) })))
			done, err := s.Wait(t.Context())
			if err != nil || done.Status.Phase != phase {
				t.Fatalf("%v", err)
			}
			// Who comes later is told at once.
			later, err := w.client(nil).Wait(t.Context(), w.namespace, s.Key())
			if err != nil || later.UID != done.UID {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestWaitGoesOnAfterACut cuts watches and answers in every way; what happens meanwhile is not missed.
func TestWaitGoesOnAfterACut(t *testing.T) {
	w := newWorld(t)
	var s *submit.Submission
	network := watches(func(n int32, send func() (*http.Response, error)) (*http.Response, error) {
		switch n {
		case 1:
			return cut(nil, send)
		case 2:
			return gateway(503)(nil, send)
		case 3:
			return instead(410)(nil, send) // the history is gone
		case 4: // ends before anything happens
			response, err := send()
			if err == nil {
				response.Body.Close()
			}
			return response, err
		case 5: // it ends while nobody watches
			w.finish(s.Object(), v1alpha1.PhaseSuccess)
			return instead(504)(nil, send)
		}
		return send()
	})
	s = w.prepare(w.client(both(network, on(http.MethodGet, send, send, instead(503), send, cut))))
	done, err := s.Wait(t.Context())
	if err != nil || done.Status.Phase != v1alpha1.PhaseSuccess {
		t.Errorf("%v", err)
	}
}

func send(_ *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
	return send()
}

func TestDeletedWhileWaitedFor(t *testing.T) {
	w := newWorld(t)
	var s *submit.Submission
	remove := func() {
		if err := w.api.Delete(w.Context(), s.Object()); err != nil {
			w.Error(err)
		}
	}
	s = w.prepare(w.client(w.begun(func(int32, *http.Response) { remove() })))
	_, err := s.Wait(t.Context())
	var gone *submit.GoneError
	if !errors.As(err, &gone) || gone.Last == nil {
		t.Fatalf("under the watch: %v", err)
	}

	// While nobody watched, and submitted again by somebody else: that is another object.
	receipt := w.submit(w.prepare(w.client(nil)))
	s = w.prepare(w.client(watches(func(n int32, send func() (*http.Response, error)) (*http.Response, error) {
		if n == 1 {
			remove()
			w.submit(w.prepare(w.client(nil)))
			return instead(503)(nil, send) // a cut one is watched again from where it was, and tells of the deletion
		}
		return send()
	})))
	_, err = s.Wait(t.Context())
	if !errors.As(err, &gone) || gone.Last == nil || gone.Last.UID != receipt.Object.UID {
		t.Errorf("while nobody watched: %v", err)
	}

	if _, err := w.client(nil).Wait(t.Context(), w.namespace, "never-was"); !errors.As(err, &gone) || gone.Last != nil {
		t.Errorf("never there: %v", err)
	}
}

func TestDeletedAfterItsEndIsNotMissed(t *testing.T) {
	w := newWorld(t)
	s := w.prepare(w.client(nil))
	receipt := w.submit(s)
	watching := w.client(w.begun(func(int32, *http.Response) {
		w.finish(receipt.Object, v1alpha1.PhaseSuccess)
		if err := w.api.Delete(w.Context(), receipt.Object); err != nil {
			w.Error(err)
		}
	}))
	done, err := watching.Wait(t.Context(), w.namespace, s.Key())
	if err != nil || done.Status.Phase != v1alpha1.PhaseSuccess {
		t.Errorf("%v", err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	s := w.prepare(w.client(w.begun(func(int32, *http.Response) { cancel() })))
	if _, err := s.Wait(ctx); !errors.Is(err, context.Canceled) || s.State() != submit.Submitted {
		t.Errorf("%s, %v", s.State(), err)
	}
}

func TestFollowTellsEveryChange(t *testing.T) {
	w := newWorld(t)
	receipt := w.submit(w.prepare(w.client(nil)))
	var seen []v1alpha1.Phase
	c := w.client(w.begun(func(int32, *http.Response) {
		w.finish(receipt.Object, v1alpha1.PhaseProcessing)
		w.finish(receipt.Object, v1alpha1.PhaseSuccess)
	}))
	_, err := c.Follow(t.Context(), client.ObjectKeyFromObject(receipt.Object), func(s *v1alpha1.TaskSubmission) bool {
		seen = append(seen, s.Status.Phase)
		return s.Status.Phase.Terminal()
	})
	if err != nil || len(seen) != 3 || seen[0] != v1alpha1.PhasePending || seen[2] != v1alpha1.PhaseSuccess {
		t.Errorf("%v, %v", seen, err)
	}
}

func TestWhoMayNotLookIsTold(t *testing.T) {
	w := newWorld(t)
	w.submit(w.prepare(w.client(nil)))
	if _, err := w.client(watches(func(_ int32, send func() (*http.Response, error)) (*http.Response, error) {
		return instead(403)(nil, send)
	})).Wait(t.Context(), w.namespace, w.action().Key); !apierrors.IsForbidden(err) {
		t.Errorf("%v", err)
	}
}
