package controller

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// peopleMoves are what clients, GitOps and people may do.
func (w *world) peopleMoves(add func(move)) {
	for _, original := range w.scenario.submissions {
		w.clientMoves(original, add)
		w.recordMoves(original, add)
		w.decisionMoves(original.Name, add)
	}
	if w.budget.Edit > 0 && w.templateOf() != nil {
		add(func(w *world) {
			w.budget.Edit--
			template := w.templateOf().DeepCopy()
			template.Spec.Effect.HTTP.URL += "/edited"
			template.Generation++
			w.put(template)
			w.tell("somebody edits the template: it goes to another address")
		})
	}
	if w.budget.Withdraw > 0 && w.templateOf() != nil {
		add(func(w *world) {
			w.budget.Withdraw--
			delete(w.objects, keyOf(w.templateOf()))
			w.tell("somebody deletes the template")
		})
	}
	w.suspensionMoves(add)
}

// clientMoves are what happens to a submission.
func (w *world) clientMoves(original *v1alpha1.TaskSubmission, add func(move)) {
	key, name := keyOf(original), original.Name
	act := func(possible bool, spend func(*budget) *int, do func(*world), text string) {
		if !possible || *spend(&w.budget) == 0 {
			return
		}
		add(func(w *world) {
			*spend(&w.budget)--
			do(w)
			w.tell("somebody "+text, name)
		})
	}
	there := w.objects[key] != nil
	act(there, func(b *budget) *int { return &b.Delete }, func(w *world) { delete(w.objects, key) }, "deletes %s")
	act(there && w.submissionOf(name).DeletionTimestamp == nil, func(b *budget) *int { return &b.Terminate }, func(w *world) {
		ending := w.submissionOf(name).DeepCopy()
		ending.DeletionTimestamp = &metav1.Time{Time: modelEpoch.Add(w.now)}
		w.put(ending)
	}, "deletes %s, which a finalizer holds")
	act(!there, func(b *budget) *int { return &b.Recreate }, func(w *world) { w.put(original.DeepCopy()) }, "applies %s again")
	act(!there, func(b *budget) *int { return &b.Reuse }, func(w *world) {
		other := original.DeepCopy()
		other.Spec.Parameters.Raw = []byte(otherPayload)
		w.put(other)
	}, "applies %s with another payload")
}

// recordMoves are what happens to a record behind the operator's back.
func (w *world) recordMoves(original *v1alpha1.TaskSubmission, add func(move)) {
	name, key := original.Name, w.scenario.recordKeys[original.Name]
	r, s := w.recordOf(name), w.submissionOf(name)
	if r != nil && w.budget.Backup > 0 {
		add(func(w *world) {
			w.budget.Backup--
			w.backup[key] = w.objects[key]
			if claim := w.objects[claimKey]; claim != nil {
				w.backup[claimKey] = claim
			}
			w.tell("somebody backs up %s and its record", name)
		})
	}
	if backup := w.backup[key]; backup != nil && w.budget.Restore > 0 && w.isOlder(backup) {
		add(func(w *world) {
			w.budget.Restore--
			w.restore(original, w.backup[key].object.(*v1alpha1.TaskRecord))
			w.tell("somebody restores the record of %s, and the submission without its status", name)
		})
	}
	// What is deleted before the status speaks of it is forgotten: that is the boundary.
	if r != nil && s != nil && s.Status.Attempts > 0 && w.budget.Forget > 0 {
		add(func(w *world) {
			w.budget.Forget--
			delete(w.objects, key)
			w.unhear(name)
			w.tell("somebody deletes the record of %s", name)
		})
	}
}

// isOlder reports whether a backup is of an earlier tick: what is begun at once after a restore was not in it. Where it may
// lack the claim of what it holds, it is restored when that attempt is over.
func (w *world) isOlder(backup *stored) bool {
	attempt := &backup.object.(*v1alpha1.TaskRecord).Spec.Action.Attempt
	if attempt.StartedAt == nil {
		return false
	}
	end := attempt.StartedAt.Time
	if w.scenario.businessKey {
		end = end.Add(attempt.Timeout.Duration + lifecycle.Grace)
	}
	return end.Before(modelClock{world: w}.Now())
}

// claimKey is where the claim on the business key of all submissions is.
var claimKey = "record/" + v1alpha1.ClaimName("t", "one")

// restore makes both anew, under other UIDs, and the claim if it was there.
func (w *world) restore(original *v1alpha1.TaskSubmission, backup *v1alpha1.TaskRecord) {
	delete(w.objects, keyOf(original))
	delete(w.objects, keyOf(backup))
	delete(w.objects, claimKey)
	w.unhear(original.Name)
	w.put(backup.DeepCopy())
	if claim := w.backup[claimKey]; claim != nil {
		w.put(claim.object.DeepCopyObject().(*v1alpha1.TaskRecord))
	}
	w.put(original.DeepCopy())
}

// unhear forgets who heard what: it is about a record that is no more.
func (w *world) unhear(name string) {
	for _, p := range w.processes {
		delete(p.heard, name)
	}
}

// decisionMoves are what a person may decide, who looks at the receiver first and tells the truth; but to one that is
// transactional, what he takes for it.
func (w *world) decisionMoves(name string, add func(move)) {
	decide := func(action v1alpha1.DecisionAction, spend func(*budget) *int, sensible func(*v1alpha1.TaskRecord) bool) {
		if r := w.recordOf(name); *spend(&w.budget) > 0 && (r != nil || w.submissionOf(name) != nil) && sensible(r) {
			add(func(w *world) {
				*spend(&w.budget)--
				w.decide(name, action)
			})
		}
	}
	inDoubt := func(r *v1alpha1.TaskRecord) bool {
		return r != nil && r.Spec.Action.Unsettled && !r.Spec.Action.Attempt.Open() && !w.mayHappen(name)
	}
	decide(v1alpha1.DecisionApprove, func(b *budget) *int { return &b.Approve }, func(*v1alpha1.TaskRecord) bool { return w.templateOf() != nil })
	decide(v1alpha1.DecisionCancel, func(b *budget) *int { return &b.Cancel }, func(*v1alpha1.TaskRecord) bool { return true })
	decide(v1alpha1.DecisionConfirmApplied, func(b *budget) *int { return &b.ConfirmApplied }, func(r *v1alpha1.TaskRecord) bool {
		return inDoubt(r) && w.effects(name) > 0
	})
	decide(v1alpha1.DecisionConfirmNotApplied, func(b *budget) *int { return &b.ConfirmNot }, func(r *v1alpha1.TaskRecord) bool {
		if w.scenario.receiver == transactional { // and may be wrong: the receiver is asked again
			return r != nil && r.Spec.Action.Unsettled && !r.Spec.Action.Attempt.Open()
		}
		return inDoubt(r) && w.effects(name) == 0
	})
	decide(v1alpha1.DecisionRetry, func(b *budget) *int { return &b.Retry }, func(r *v1alpha1.TaskRecord) bool {
		return r != nil && r.Spec.Action.Phase == v1alpha1.PhaseFailed
	})
	decide(v1alpha1.DecisionRelease, func(b *budget) *int { return &b.Releases }, func(r *v1alpha1.TaskRecord) bool {
		return r != nil && r.Spec.Action.Phase == v1alpha1.PhaseSuccess
	})
}

// decide makes a decision about what is there now.
func (w *world) decide(name string, action v1alpha1.DecisionAction) {
	var attempt int32
	var uid types.UID
	if r := w.recordOf(name); r != nil {
		attempt, uid = r.Spec.Action.Attempt.Number, r.UID
	} else {
		uid = w.submissionOf(name).UID
	}
	decision := &v1alpha1.TaskDecision{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%s-%d", name, action, len(w.objects))}}
	decision.Spec = v1alpha1.TaskDecisionSpec{Submission: name, UID: uid, Attempt: attempt, Action: action, Reason: "a test"}
	if action == v1alpha1.DecisionApprove {
		decision.Spec.TemplateDigest = w.digest()
	}
	decision.Status.State = v1alpha1.DecisionPending
	w.put(decision)
	w.tell("a person decides %s of %s, attempt %d", action, name, attempt)
}

// digest is that of the template's effect as it is now.
func (w *world) digest() string {
	template := w.templateOf()
	compiled, _ := w.scenario.plansOf(template.Generation).For(template)
	return compiled.Digest
}
