package controller

import (
	"bytes"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// checkState checks what must hold in every state. Effects, sends and transitions are checked when they happen.
func (w *world) checkState() {
	for _, submission := range w.scenario.submissions {
		name := submission.Name
		if r := w.recordOf(name); r != nil {
			w.checkRecord(name, r.Spec.Action)
		}
		if s := w.submissionOf(name); s != nil {
			w.checkSubmission(name, s)
		}
	}
}

func (w *world) checkRecord(name string, action *v1alpha1.Action) {
	switch action.Phase {
	case v1alpha1.PhaseSuccess:
		if w.effectsFor(name) == 0 {
			w.violate("I5: the record of %s says Success, and there was no effect", name)
		}
	case v1alpha1.PhaseFailed:
		if w.receiver.effects[name] > 0 || w.mayHappen(name) {
			w.violate("I5: the record of %s says Failed/%s, and the effect happened or may still happen", name, action.Reason)
		}
	default:
		if action.Reason == "" {
			w.violate("I9: the record of %s waits without a reason", name)
		}
	}
}

// effectsFor counts the effects of a key or, where submissions share a business key, of all.
func (w *world) effectsFor(name string) (total int) {
	if !w.scenario.businessKey {
		return w.receiver.effects[name]
	}
	for _, n := range w.receiver.effects {
		total += n
	}
	return total
}

func (w *world) checkSubmission(name string, s *v1alpha1.TaskSubmission) {
	original := w.scenario.submission(name)
	other := !bytes.Equal(s.Spec.Parameters.Raw, original.Spec.Parameters.Raw)
	first := w.recordOf(name)
	switch {
	case s.Status.Phase == v1alpha1.PhaseSuccess && w.effectsFor(name) == 0:
		w.violate("I5: %s says Success, and there was no effect", name)
	case s.Status.Phase == v1alpha1.PhaseSuccess && first != nil && first.Spec.Action.PayloadDigest != payloadOf(s):
		w.violate("I6: %s asks for something else than the record of its key, and says Success", name)
	case s.Status.Phase == v1alpha1.PhaseFailed && s.Status.Reason != v1alpha1.ReasonKeyReused && !other && (w.receiver.effects[name] > 0 || w.mayHappen(name)):
		w.violate("I5: %s says Failed/%s, and the effect happened or may still happen", name, s.Status.Reason)
	}
}

func payloadOf(s *v1alpha1.TaskSubmission) string {
	digest, _ := v1alpha1.PayloadDigest(&s.Spec)
	return digest
}

// checkTransition holds one object against what it becomes: the rules that the CRDs state, and status's own.
func (w *world) checkTransition(old, next client.Object) {
	switch next := next.(type) {
	case *v1alpha1.TaskRecord:
		if next.Spec.Action != nil {
			w.checkAction(next.Name, old.(*v1alpha1.TaskRecord).Spec.Action, next.Spec.Action)
		}
	case *v1alpha1.TaskSubmission:
		was := old.(*v1alpha1.TaskSubmission).Status.Phase
		if was == v1alpha1.PhaseSuccess && next.Status.Phase != was {
			w.violate("I5: %s was Success and becomes %s/%s", next.Name, next.Status.Phase, next.Status.Reason)
		}
	}
}

func (w *world) checkAction(name string, was, next *v1alpha1.Action) {
	switch {
	case was.Phase == v1alpha1.PhaseSuccess && next.Phase != was.Phase:
		w.violate("I5: the record %s was Success and becomes %s/%s", name, next.Phase, next.Reason)
	case was.Phase == v1alpha1.PhaseFailed && next.Phase != was.Phase && (next.Decision == nil || next.Decision.Action != v1alpha1.DecisionRetry):
		w.violate("I5: the record %s leaves Failed without a Retry", name)
	case next.Attempt.Number < was.Attempt.Number:
		w.violate("the attempt number of %s falls from %d to %d", name, was.Attempt.Number, next.Attempt.Number)
	}
}
