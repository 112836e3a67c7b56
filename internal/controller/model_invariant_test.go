package controller

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// checkState checks what must hold in every state.
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
		if !w.happened(name) {
			w.violate("I5: the record of %s says Success, and there was no effect", name)
		}
	case v1alpha1.PhaseFailed:
		if w.effects(name) > 0 || w.mayHappen(name) {
			w.violate("I5: the record of %s says Failed/%s, and the effect happened or may still happen", name, action.Reason)
		}
	default:
		if action.Reason == "" {
			w.violate("I9: the record of %s waits without a reason", name)
		}
	}
	w.checkTooLate(name, action.Reason)
	if action.DuplicateOf != "" {
		w.checkDuplicate(name, action)
	}
}

// checkDuplicate holds the result of a submission against that of the first one with its business key.
func (w *world) checkDuplicate(name string, action *v1alpha1.Action) {
	first := w.recordOf(action.DuplicateOf)
	if first == nil {
		return
	}
	differ := first.Spec.Action.PayloadDigest != action.PayloadDigest
	switch {
	case first.Spec.Action.ResultDigest != action.ResultDigest:
		w.violate("I6: %s has another result than %s, whose duplicate it is", name, action.DuplicateOf)
	case differ && !strings.Contains(action.Message, "although the parameters differ"):
		w.violate("I6: %s asked for something else than %s, gets its result, and is not told so", name, action.DuplicateOf)
	}
}

// happened reports whether the effect of a key, or of its business key, was ever applied.
func (w *world) happened(name string) bool {
	for _, q := range w.requests {
		if q.state == requestApplied && (q.key == name || w.scenario.businessKey) {
			return true
		}
	}
	return false
}

func (w *world) checkSubmission(name string, s *v1alpha1.TaskSubmission) {
	other := string(s.Spec.Parameters.Raw) == otherPayload
	first := w.recordOf(name)
	switch {
	case s.Status.Phase == v1alpha1.PhaseSuccess && !w.happened(name):
		w.violate("I5: %s says Success, and there was no effect", name)
	case s.Status.Phase == v1alpha1.PhaseSuccess && first != nil && first.Spec.Action.PayloadDigest != w.payloadOf(name):
		w.violate("I6: %s asks for something else than the record of its key, and says Success", name)
	case s.Status.Phase == v1alpha1.PhaseFailed && s.Status.Reason != v1alpha1.ReasonKeyReused && !other && !w.reopened(name) && (w.effects(name) > 0 || w.mayHappen(name)):
		w.violate("I5: %s says Failed/%s, and the effect happened or may still happen", name, s.Status.Reason)
	}
}

// reopened reports whether a Retry has opened the record of a key again. Its status says Failed until somebody projects it.
func (w *world) reopened(name string) bool {
	r := w.recordOf(name)
	return r != nil && r.Spec.Action.Retries > 0 && r.Spec.Action.Phase != v1alpha1.PhaseFailed
}

func (w *world) payloadOf(name string) string { return w.objects["submission/"+name].payload }

// checkSend checks the moment at which a request leaves: it was begun, once, and under an effect that was approved
// where approval is asked for.
func (w *world) checkSend(p *process, f *modelFlight) {
	name, attempt := f.ticket.Action.Name, f.ticket.Attempt
	if !w.acked[beginName(f.record, attempt, p.submissions.Executor)] {
		w.violate("I2: attempt %d of %s was sent, and its begin was not acknowledged", attempt, name)
	}
	for _, q := range w.requests {
		if q.record == f.record && q.attempt == attempt {
			w.violate("I3: attempt %d of %s was sent twice", attempt, name)
		}
	}
	if w.scenario.approval && !w.approved(name, f.digest) {
		w.violate("approval: attempt %d of %s was sent, and nobody has approved that effect", attempt, name)
	}
}

func (w *world) approved(name, digest string) bool {
	for _, object := range w.objects {
		decision, ok := object.object.(*v1alpha1.TaskDecision)
		if ok && decision.Spec.Action == v1alpha1.DecisionApprove && decision.Spec.Submission == name && decision.Spec.TemplateDigest == digest {
			return true
		}
	}
	return false
}

// checkStep checks what a process is about to do against what it knows.
func (w *world) checkStep(p *process, step lifecycle.Step) {
	if begin, begins := step.(lifecycle.Begin); begins {
		w.checkBegin(p, begin)
	}
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
		if w.scenario.recordTTL > 0 && next.Status.Replayed && next.Status.Phase.Terminal() {
			w.asked[next.Name] = w.now
		}
	}
}

func (w *world) checkAction(name string, was, next *v1alpha1.Action) {
	reopened := next.Decision != nil && next.Decision.Action == v1alpha1.DecisionRetry && (was.Decision == nil || was.Decision.UID != next.Decision.UID)
	switch {
	case was.Phase == v1alpha1.PhaseSuccess && next.Phase != was.Phase:
		w.violate("I5: the record %s was Success and becomes %s/%s", name, next.Phase, next.Reason)
	case was.Phase == v1alpha1.PhaseFailed && next.Phase != was.Phase && !reopened:
		w.violate("I5: the record %s leaves Failed without a Retry", name)
	case next.Attempt.Number < was.Attempt.Number:
		w.violate("I2: the attempt number of %s falls from %d to %d", name, was.Attempt.Number, next.Attempt.Number)
	case was.ResultDigest != "" && next.ResultDigest != was.ResultDigest:
		w.violate("I6: the stored result of %s is changed", name)
	case next.PayloadDigest != was.PayloadDigest:
		w.violate("I6: the payload of %s is changed", name)
	}
}

// checkRemoval checks what a process deletes.
func (w *world) checkRemoval(p *process, object client.Object) {
	name := p.pass.action.Name
	if s, ok := object.(*v1alpha1.TaskSubmission); ok {
		if !s.Status.Phase.Terminal() {
			w.violate("I9: %s is removed, and it has not finished", name)
		}
		return
	}
	r := object.(*v1alpha1.TaskRecord)
	if r.Spec.Type == v1alpha1.RecordBusinessKey {
		if r.Spec.Holder.Record != p.pass.record.Object.Name {
			w.violate("I7: the business key that another submission holds is given free by %s", name)
		}
		if p.pass.record.Object.Spec.Action.Phase == v1alpha1.PhaseSuccess {
			w.released[name] = true // what failed had no effect, and frees no other
		}
		return
	}
	now := modelEpoch.Add(w.now)
	asked, again := w.asked[name]
	switch expires := r.Spec.Action.ExpiresAt; {
	case w.submissionOf(name) != nil:
		w.violate("I8: the record of %s is removed, and its submission exists", name)
	case expires == nil || now.Before(expires.Time):
		w.violate("I8: the record of %s is removed before its time", name)
	case again && w.now < asked+w.scenario.recordTTL/2:
		w.violate("I8: the record of %s is removed less than half a life after it was last asked for", name)
	case r.Spec.Action.Unsettled || r.Spec.Action.Attempt.Open():
		w.violate("I9: the record of %s is removed, and its outcome is in doubt", name)
	}
	w.forget(name)
	w.unhear(name)
	delete(w.asked, name)
	delete(w.released, name)
}
