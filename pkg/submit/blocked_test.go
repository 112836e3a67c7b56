package submit_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/pkg/submit"
)

var ofInput = []v1alpha1.Reason{v1alpha1.ReasonInvalidName, v1alpha1.ReasonInvalidParameters, v1alpha1.ReasonKeyMismatch, v1alpha1.ReasonKeyReused}

// wrong is the action with parameters that turn out to be wrong.
func wrong(a *submit.Action) { a.Parameters = map[string]any{"taskId": "42"} }

// TestBadInputHoldsNoKey: one that failed for its input makes way, for another action and for the same one, sent again.
func TestBadInputHoldsNoKey(t *testing.T) {
	for _, reason := range ofInput {
		for what, edit := range map[string]func(*submit.Action){"corrected": func(*submit.Action) {}, "the same": wrong} {
			t.Run(string(reason)+", "+what, func(t *testing.T) {
				w := newWorld(t)
				bad := w.submit(w.prepare(w.client(nil), wrong)).Object
				w.judge(bad, v1alpha1.PhaseFailed, reason)
				receipt := w.submit(w.prepare(w.client(nil), edit))
				if there := w.there(); receipt.Answer != submit.First || len(there) != 1 || there[0].UID == bad.UID || there[0].UID != receipt.Object.UID {
					t.Errorf("%s; there are %+v", receipt.Answer, there)
				}
			})
		}
	}
}

// TestOnlyBadInputMakesWay: what stands otherwise, or may have run, is another action's.
func TestOnlyBadInputMakesWay(t *testing.T) {
	w := newWorld(t)
	bad := w.submit(w.prepare(w.client(nil), wrong)).Object
	for _, standing := range []struct {
		phase  v1alpha1.Phase
		reason v1alpha1.Reason
	}{
		{v1alpha1.PhasePending, v1alpha1.ReasonTemplateNotFound}, {v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting},
		{v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied}, {v1alpha1.PhaseFailed, v1alpha1.ReasonRejected}, {v1alpha1.PhaseFailed, v1alpha1.ReasonCancelled},
	} {
		w.judge(bad, standing.phase, standing.reason)
		_, err := w.prepare(w.client(nil)).Submit(t.Context())
		var other *submit.OtherPayloadError
		if there := w.there(); !errors.As(err, &other) || len(there) != 1 || there[0].UID != bad.UID {
			t.Errorf("%+v: %v; there are %+v", standing, err, there)
		}
	}
}

// TestAnotherActionThatNobodyHasLookedAt may turn out to be refused for its key: nobody is told to take another key.
func TestAnotherActionThatNobodyHasLookedAt(t *testing.T) {
	w := newWorld(t)
	bad := w.submit(w.prepare(w.client(nil), wrong)).Object
	c := w.client(nil)
	ctx, cancel := context.WithCancel(t.Context())
	c.OnRetry = func(string, error) { cancel() }
	s := w.prepare(c)
	_, err := s.Submit(ctx)
	var blocked *submit.BlockedError
	if !errors.As(err, &blocked) || blocked.Existing.UID != bad.UID || !errors.Is(err, context.Canceled) || s.State() != submit.Idle {
		t.Fatalf("%s, %v", s.State(), err)
	}
	judged := sync.OnceFunc(func() { w.judge(bad, v1alpha1.PhaseFailed, v1alpha1.ReasonKeyReused) })
	c.OnRetry = func(string, error) { judged() }
	if receipt := w.submit(s); receipt.Answer != submit.First {
		t.Errorf("%s", receipt.Answer)
	}
}

// TestBadInputThatMayNotBeDeleted says what stands in the way.
func TestBadInputThatMayNotBeDeleted(t *testing.T) {
	w := newWorld(t)
	bad := w.submit(w.prepare(w.client(nil), wrong)).Object
	w.judge(bad, v1alpha1.PhaseFailed, v1alpha1.ReasonInvalidParameters)
	refuse := on(http.MethodDelete, instead(http.StatusForbidden))
	s := w.prepare(w.client(refuse))
	_, err := s.Submit(t.Context())
	var blocked *submit.BlockedError
	if !errors.As(err, &blocked) || !apierrors.IsForbidden(err) || s.State() != submit.Idle {
		t.Errorf("%s, %v", s.State(), err)
	}
	if receipt := w.submit(w.prepare(w.client(on(http.MethodDelete, instead(http.StatusForbidden))), wrong)); receipt.Answer != submit.Duplicate {
		t.Errorf("the same: %s", receipt.Answer)
	}
	lost := w.prepare(w.client(both(on(http.MethodPost, instead(500)), on(http.MethodDelete, instead(http.StatusForbidden)))))
	var unknown *submit.UnknownError
	if _, err := lost.Submit(t.Context()); !errors.As(err, &unknown) || lost.State() != submit.Unknown {
		t.Errorf("after a lost answer: %s, %v", lost.State(), err)
	}
}

// TestBadInputIsDeletedAsItWasSeen: what has changed since, or is another one by now, is looked at again.
func TestBadInputIsDeletedAsItWasSeen(t *testing.T) {
	w := newWorld(t)
	bad := w.submit(w.prepare(w.client(nil), wrong)).Object
	w.judge(bad, v1alpha1.PhaseFailed, v1alpha1.ReasonInvalidParameters)
	s := w.prepare(w.client(on(http.MethodDelete, func(_ *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		w.judge(bad, v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied) // as no operator does
		return send()
	})))
	_, err := s.Submit(t.Context())
	var other *submit.OtherPayloadError
	if there := w.there(); !errors.As(err, &other) || len(there) != 1 || there[0].UID != bad.UID {
		t.Errorf("%v; there are %+v", err, there)
	}
}

// TestARefusalDeletesNothing: what is refused at the door makes nobody else's go.
func TestARefusalDeletesNothing(t *testing.T) {
	w := newWorld(t)
	bad := w.submit(w.prepare(w.client(nil), wrong)).Object
	w.judge(bad, v1alpha1.PhaseFailed, v1alpha1.ReasonInvalidParameters)
	_, err := w.prepare(w.client(on(http.MethodPost, instead(403)))).Submit(t.Context())
	var refused *submit.RefusedError
	if there := w.there(); !errors.As(err, &refused) || len(there) != 1 || there[0].UID != bad.UID {
		t.Errorf("%v; there are %+v", err, there)
	}
}
