package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// judge returns a sentence for each thing that is not as promised.
func (e *evidence) judge() []string {
	var wrong []string
	for _, moving := range e.moving() {
		wrong = append(wrong, "I9: "+moving)
	}
	calls, effects := e.byKey(ledger.Call), e.byKey(ledger.Effect)
	for _, key := range e.keys {
		wrong = append(wrong, e.judgeEffects(key, calls[key], len(effects[key]))...)
		wrong = append(wrong, e.judgeCalls(key, calls[key])...)
		wrong = append(wrong, e.judgeStatus(key)...)
	}
	wrong = append(wrong, e.judgeStrangers(effects)...)
	wrong = append(wrong, judgeBusinessKeys(effects)...)
	wrong = append(wrong, e.judgeClaims()...)
	wrong = append(wrong, e.leaks...)
	return append(wrong, firstResultWins(e.events)...)
}

// byKey returns the receiver's entries of one kind for each key.
func (e *evidence) byKey(kind ledger.Kind) map[string][]ledger.Entry {
	entries := map[string][]ledger.Entry{}
	for _, entry := range e.entries {
		if key := strings.TrimPrefix(entry.Key, e.namespace+"/"); entry.Kind == kind {
			entries[key] = append(entries[key], entry)
		}
	}
	return entries
}

// judgeStrangers finds effects and records of keys that nobody asked for.
func (e *evidence) judgeStrangers(effects map[string][]ledger.Entry) []string {
	var wrong []string
	for key := range effects {
		if !slices.Contains(e.keys, key) {
			wrong = append(wrong, fmt.Sprintf("I2: %s had an effect and was never asked for", key))
		}
	}
	for key := range e.records {
		if !slices.Contains(e.keys, key) {
			wrong = append(wrong, fmt.Sprintf("I1: there is a record of %s, which was never asked for", key))
		}
	}
	return wrong
}

// judgeBusinessKeys counts the effects for each business key of a template.
func judgeBusinessKeys(effects map[string][]ledger.Entry) []string {
	business := map[string]int{}
	for key, entries := range effects {
		for _, entry := range entries {
			if entry.BusinessKey != "" {
				business[actionOf(key).name+" "+entry.BusinessKey]++
			}
		}
	}
	var wrong []string
	for key, n := range business {
		if n > 1 {
			wrong = append(wrong, fmt.Sprintf("I7: %d effects for the business key %s", n, key))
		}
	}
	return wrong
}

// judgeEffects compares the number of a key's effects with its record.
func (e *evidence) judgeEffects(key string, calls []ledger.Entry, effects int) []string {
	var wrong []string
	say := func(format string, arguments ...any) {
		wrong = append(wrong, fmt.Sprintf(format, arguments...)+"; "+e.say(key)+story(calls))
	}
	if effects > 1 {
		say("I4: %d effects of %s", effects, key)
	}
	r, recorded := e.records[key]
	switch {
	case !recorded && len(calls) > 0:
		say("I2: the receiver was called for %s without a record", key)
	case !recorded:
	case r.Spec.Action.Phase == v1alpha1.PhaseSuccess && r.Spec.Action.Reason == v1alpha1.ReasonAlreadyApplied:
		if effects != 0 {
			say("I7: %s had an effect of its own", key)
		}
	case r.Spec.Action.Phase == v1alpha1.PhaseSuccess && effects == 0:
		say("I5: %s succeeded without an effect", key)
	case r.Spec.Action.Phase == v1alpha1.PhaseFailed && effects > 0:
		say("I5: %s failed and had an effect", key)
	case actionOf(key).kind.tells() && e.asks(&r):
		say("I9: %s asks a person, though its receiver can tell", key)
	}
	return wrong
}

// judgeCalls asks of each call whether it might have been made, and of each answer that was lost who was asked.
func (e *evidence) judgeCalls(key string, calls []ledger.Entry) []string {
	var wrong []string
	say := func(call ledger.Entry, what string) {
		wrong = append(wrong, fmt.Sprintf("%s: attempt %s of %s; %s%s", what, call.Attempt, key, e.say(key), story(calls)))
	}
	r, recorded := e.records[key]
	if !recorded {
		return nil
	}
	payload := payloadOf(key, r.Spec.Action.PayloadDigest)
	for _, call := range calls {
		if call.Amount.String() != strconv.Itoa(payload) {
			say(call, "I6: another payload was sent")
		}
		if payload < 0 {
			say(call, "I10: bad input was sent")
		}
		if actionOf(key).approval && !e.approved(&r) {
			say(call, "approval: nobody approved it")
		}
		if !actionOf(key).kind.tells() && moveIn(call).loses() && !e.answered(key, call.Attempt) {
			say(call, "I4: an answer was lost, and no person was asked")
		}
	}
	return wrong
}

// answered reports whether a lost attempt waits for a person, or a person has answered.
func (e *evidence) answered(key, attempt string) bool {
	r := e.records[key]
	return (e.asks(&r) && strconv.Itoa(int(r.Spec.Action.Attempt.Number)) == attempt) ||
		e.decided(key, attempt, v1alpha1.DecisionConfirmApplied) || e.decided(key, attempt, v1alpha1.DecisionConfirmNotApplied)
}

// decided reports whether a decision about an attempt was carried out.
func (e *evidence) decided(key, attempt string, action v1alpha1.DecisionAction) bool {
	return slices.ContainsFunc(e.decisions, func(d v1alpha1.TaskDecision) bool {
		return d.Spec.Submission == key && strconv.Itoa(int(d.Spec.Attempt)) == attempt && d.Spec.Action == action && d.Status.State == v1alpha1.DecisionApplied
	})
}

// approved reports whether a record names somebody's approval. What became of that decision is not asked: from an old copy
// of a submission that was just deleted an action may begin whose approval another replica refuses as nobody's.
func (e *evidence) approved(r *v1alpha1.TaskRecord) bool {
	return r.Spec.Action.Approval != nil && slices.ContainsFunc(e.decisions, func(d v1alpha1.TaskDecision) bool {
		return d.UID == r.Spec.Action.Approval.UID && d.Spec.Submission == r.Spec.Key && d.Spec.Action == v1alpha1.DecisionApprove
	})
}

// judgeClaims finds claims that nobody holds.
func (e *evidence) judgeClaims() []string {
	var wrong []string
	for _, claim := range e.claims {
		held := slices.ContainsFunc(slices.Collect(maps.Values(e.records)), func(r v1alpha1.TaskRecord) bool {
			return r.Name == claim.Spec.Holder.Record && r.UID == claim.Spec.Holder.UID
		})
		if !held {
			wrong = append(wrong, fmt.Sprintf("leak: the claim %s is held by %s, which does not exist", claim.Name, claim.Spec.Holder.Record))
		}
	}
	return wrong
}

// judgeStatus compares a submission with its record.
func (e *evidence) judgeStatus(key string) []string {
	s := e.submissions[key]
	r, recorded := e.records[key]
	digest, err := v1alpha1.PayloadDigest(&s.Spec)
	var wrong string
	switch {
	case err != nil:
		wrong = err.Error()
	case recorded && digest != r.Spec.Action.PayloadDigest:
		if s.Status.Reason != v1alpha1.ReasonKeyReused && s.Status.Reason != v1alpha1.ReasonInvalidParameters {
			wrong = "I6: another payload was not refused"
		}
	case recorded && (s.Status.Phase != r.Spec.Action.Phase && s.Status.Reason != v1alpha1.ReasonBusinessKeyHeld):
		wrong = "I6: status and record differ"
	case recorded && s.Status.ResultDigest != r.Spec.Action.ResultDigest:
		wrong = "I6: status has another result than the record"
	case !recorded && !aboutInput(s.Status.Reason) && s.Status.Reason != v1alpha1.ReasonAwaitingApproval:
		wrong = "I2: it has neither a record nor a fault of its own"
	case s.Status.Reason == "" || s.Status.Message == "" && !s.Status.Phase.Terminal():
		wrong = "I9: it does not say why it waits"
	}
	if wrong == "" {
		return nil
	}
	return []string{wrong + ": " + e.say(key)}
}

// firstResultWins finds clients who were told two different ends of one action. Failed is the end of an action that
// nobody tries again.
func firstResultWins(events []event) []string {
	var wrong []string
	retried := map[string]bool{}
	for _, e := range events {
		retried[e.key] = retried[e.key] || e.decision == v1alpha1.DecisionRetry
	}
	first := map[string]event{}
	for _, e := range events {
		if e.kind != opRead || !e.verdict() {
			continue
		}
		f, told := first[e.key]
		switch {
		case !told, f.phase == v1alpha1.PhaseFailed && retried[e.key]:
			first[e.key] = e
		case f.phase != e.phase || f.digest != e.digest:
			wrong = append(wrong, fmt.Sprintf("I6: %s was told to be %s/%s %s, and then %s/%s %s", e.key, f.phase, f.reason, f.digest, e.phase, e.reason, e.digest))
		}
	}
	return wrong
}

func moveIn(entry ledger.Entry) move {
	return move(entry.Path[strings.LastIndexByte(entry.Path, '/')+1:])
}

// story tells what the receiver made of the calls of a key.
func story(calls []ledger.Entry) string {
	var text strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&text, "\n      %s  attempt %s: %s", c.Time.Format("15:04:05.000"), c.Attempt, moveIn(c))
	}
	return text.String()
}
