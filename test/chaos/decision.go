package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// decide makes a decision about an attempt of the object that has the UID.
func (a *asker) decide(ctx context.Context, key string, spec v1alpha1.TaskDecisionSpec) {
	spec.Submission, spec.Reason = key, "chaos"
	a.decisions++
	decision := &v1alpha1.TaskDecision{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.w.namespace, Name: fmt.Sprintf("by-%d-%05d", a.number, a.decisions)},
		Spec:       spec,
	}
	asked := operation{key: key, kind: opDecide, decision: spec.Action, attempt: spec.Attempt}
	a.w.history.record(a.number, asked, func(seen *observation) {
		if err := a.w.api.Create(ctx, decision); err != nil {
			seen.lost(err)
			return
		}
		a.w.tally.add("decisions: "+string(spec.Action), 1)
		seen.certain, seen.done = true, true
	})
}

var digests = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

// awaitsApproval reports whether a message asks for an approval: before the begin, or where what was never approved is
// tried again.
func awaitsApproval(key, message string) bool {
	return actionOf(key).approval && digests.MatchString(message)
}

// react decides what a client may decide by what it was told: approve, cancel, try again.
func (a *asker) react(ctx context.Context, key string, seen observation) {
	spec := v1alpha1.TaskDecisionSpec{UID: seen.uid, Attempt: seen.attempts}
	n := a.random.IntN(100)
	switch {
	case !seen.done || seen.phase == v1alpha1.PhaseSuccess || aboutInput(seen.reason):
		return
	case awaitsApproval(key, seen.message) && n < 80:
		spec.Action, spec.TemplateDigest = v1alpha1.DecisionApprove, digests.FindString(seen.message)
	case seen.phase == v1alpha1.PhaseFailed && n < 70:
		spec.Action = v1alpha1.DecisionRetry
	case seen.reason == v1alpha1.ReasonOutcomeUnknown || n >= 90:
		return // the clerk knows more of it; or nobody cares
	default:
		spec.Action = v1alpha1.DecisionCancel
	}
	a.decide(ctx, key, spec)
}

// audit has a person look at what has an unknown outcome, until ctx ends: half of it is looked up in the receiver's
// books, when that can be believed, and confirmed as it is there. What did not happen is then tried again, or not.
func (a *asker) audit(ctx context.Context) {
	since := map[types.UID]time.Time{}
	for ctx.Err() == nil {
		var list v1alpha1.TaskSubmissionList
		if a.w.api.List(ctx, &list, client.InNamespace(a.w.namespace), client.MatchingFields{"status.reason": string(v1alpha1.ReasonOutcomeUnknown)}) == nil {
			for i := range list.Items {
				s := &list.Items[i]
				first, known := since[s.UID]
				switch {
				case !known:
					since[s.UID] = time.Now()
				case time.Since(first) > settleAfter && draw(a.w.options.Seed, "audit "+s.Name).IntN(2) == 0:
					delete(since, s.UID)
					a.confirm(ctx, s)
				}
			}
		}
		pass(ctx, time.Second)
	}
}

// confirm tells the truth about an unknown outcome.
func (a *asker) confirm(ctx context.Context, s *v1alpha1.TaskSubmission) {
	done, applied, certain := a.w.receiver.truth(a.w.namespace + "/" + s.Name)
	if !certain {
		return
	}
	spec := v1alpha1.TaskDecisionSpec{UID: s.UID, Attempt: s.Status.Attempts, Action: v1alpha1.DecisionConfirmNotApplied}
	record := &v1alpha1.TaskRecord{}
	if a.random.IntN(2) == 0 && a.w.api.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.Status.RecordName}, record) == nil {
		spec.UID = record.UID // which is as good
	}
	if applied {
		result, _ := json.Marshal(done)
		spec.Action, spec.Result = v1alpha1.DecisionConfirmApplied, &apiextensionsv1.JSON{Raw: result}
	}
	a.decide(ctx, s.Name, spec)
	if seen := a.wait(ctx, s.Name); seen.phase == v1alpha1.PhaseFailed {
		a.react(ctx, s.Name, seen)
	}
}
