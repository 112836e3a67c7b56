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
	calls, effects := map[string][]ledger.Entry{}, map[string]int{}
	business := map[string]int{}
	for _, entry := range e.entries {
		key := strings.TrimPrefix(entry.Key, e.namespace+"/")
		switch entry.Kind {
		case ledger.Call:
			calls[key] = append(calls[key], entry)
		case ledger.Effect:
			effects[key]++
			if entry.BusinessKey != "" {
				business[actionOf(key).name+" "+entry.BusinessKey]++
			}
		}
	}
	known := map[string]bool{}
	for _, key := range e.keys {
		known[key] = true
		wrong = append(wrong, e.judgeKey(key, calls[key], effects[key])...)
		wrong = append(wrong, e.judgeStatus(key)...)
	}
	for key := range effects {
		if !known[key] {
			wrong = append(wrong, fmt.Sprintf("I2: %s had an effect and was never asked for", key))
		}
	}
	for key := range e.records {
		if !known[key] {
			wrong = append(wrong, fmt.Sprintf("I1: there is a record of %s, which was never asked for", key))
		}
	}
	for key, n := range business {
		if n > 1 {
			wrong = append(wrong, fmt.Sprintf("I7: %d effects for the business key %s", n, key))
		}
	}
	wrong = append(wrong, e.judgeClaims()...)
	wrong = append(wrong, e.leaks...)
	return append(wrong, firstResultWins(e.events)...)
}

// judgeKey compares the receiver's log of a key with its record.
func (e *evidence) judgeKey(key string, calls []ledger.Entry, effects int) []string {
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
	}
	switch {
	case !recorded:
	case actionOf(key).approval && len(calls) > 0 && !e.decided(key, 0, v1alpha1.DecisionApprove):
		say("approval: %s was sent, and nobody approved it", key)
	case actionOf(key).kind.tells() && e.asks(&r):
		say("I9: %s asks a person, though its receiver can tell", key)
	case !actionOf(key).kind.tells():
		for _, c := range calls {
			if moveIn(c).loses() && !e.answered(key, c.Attempt) {
				say("I4: the answer to attempt %s of %s was lost, nobody can be asked, and no person was", c.Attempt, key)
			}
		}
	}
	return wrong
}

// answered reports whether a lost attempt of a receiver that cannot be asked waits for a person, or a person has answered.
func (e *evidence) answered(key, attempt string) bool {
	number, _ := strconv.Atoi(attempt)
	r := e.records[key]
	return (e.asks(&r) && int(r.Spec.Action.Attempt.Number) == number) ||
		e.decided(key, int32(number), v1alpha1.DecisionConfirmApplied) || e.decided(key, int32(number), v1alpha1.DecisionConfirmNotApplied)
}

// decided reports whether a decision about an attempt was carried out.
func (e *evidence) decided(key string, attempt int32, action v1alpha1.DecisionAction) bool {
	return slices.ContainsFunc(e.decisions, func(d v1alpha1.TaskDecision) bool {
		return d.Spec.Submission == key && d.Spec.Attempt == attempt && d.Spec.Action == action && d.Status.State == v1alpha1.DecisionApplied
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
