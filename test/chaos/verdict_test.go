package main

import (
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/receiver/ledger"
)

// given is the evidence of one key that ended so, and of the calls that were made of it.
func given(key string, phase v1alpha1.Phase, reason v1alpha1.Reason, effects int, moves ...move) *evidence {
	s := submissionOf("ns", key, 0)
	s.Status.Phase, s.Status.Reason, s.Status.Message = phase, reason, "so it is"
	digest, _ := v1alpha1.PayloadDigest(&s.Spec)
	r := v1alpha1.TaskRecord{Spec: v1alpha1.TaskRecordSpec{Key: key, Action: &v1alpha1.Action{
		PayloadDigest: digest, Phase: phase, Reason: reason, Unsettled: reason == v1alpha1.ReasonOutcomeUnknown,
		Attempt: v1alpha1.Attempt{Number: 1},
	}}}
	e := &evidence{
		namespace: "ns", keys: []string{key},
		submissions: map[string]v1alpha1.TaskSubmission{key: *s}, records: map[string]v1alpha1.TaskRecord{key: r},
	}
	for _, m := range moves {
		e.entries = append(e.entries, ledger.Entry{Kind: ledger.Call, Key: "ns/" + key, Attempt: "1", Amount: "0", Path: "/" + string(actionOf(key).kind) + "/" + string(m)})
	}
	for range effects {
		e.entries = append(e.entries, ledger.Entry{Kind: ledger.Effect, Key: "ns/" + key, Path: "/"})
	}
	return e
}

// with adds a decision.
func (e *evidence) with(key string, action v1alpha1.DecisionAction, attempt int32, state v1alpha1.DecisionState) *evidence {
	e.decisions = append(e.decisions, v1alpha1.TaskDecision{
		Spec:   v1alpha1.TaskDecisionSpec{Submission: key, Action: action, Attempt: attempt},
		Status: v1alpha1.TaskDecisionStatus{State: state},
	})
	return e
}

func TestJudge(t *testing.T) {
	const success, failed, processing = v1alpha1.PhaseSuccess, v1alpha1.PhaseFailed, v1alpha1.PhaseProcessing
	stranger := given("letter-00001", success, v1alpha1.ReasonApplied, 1, moveApply)
	stranger.entries = append(stranger.entries, ledger.Entry{Kind: ledger.Effect, Key: "ns/letter-00002", Path: "/"})
	pair := given("points-00001", success, v1alpha1.ReasonApplied, 1, moveApply)
	for range 2 {
		pair.entries = append(pair.entries, ledger.Entry{Kind: ledger.Effect, Key: "ns/points-00001", BusinessKey: "pair-0", Path: "/"})
	}
	unequal := given("letter-00001", success, v1alpha1.ReasonApplied, 1, moveApply)
	unequal.records["letter-00001"].Spec.Action.ResultDigest = "sha256:x"
	forgotten := given("letter-00001", success, v1alpha1.ReasonApplied, 1, moveApply)
	clear(forgotten.records)
	confirmed := given("letter-00001", success, v1alpha1.ReasonConfirmedApplied, 1, moveDropAfter).with("letter-00001", v1alpha1.DecisionConfirmApplied, 1, v1alpha1.DecisionApplied)
	undecided := given("letter-00001", processing, v1alpha1.ReasonOutcomeUnknown, 1, moveDropAfter).with("letter-00001", v1alpha1.DecisionConfirmApplied, 1, v1alpha1.DecisionPending)
	refused := given("letter-00001", success, v1alpha1.ReasonApplied, 1, moveDropAfter).with("letter-00001", v1alpha1.DecisionConfirmApplied, 1, v1alpha1.DecisionRefused)
	another := given("letter-00001", success, v1alpha1.ReasonApplied, 1, moveDropAfter).with("letter-00001", v1alpha1.DecisionConfirmApplied, 2, v1alpha1.DecisionApplied)
	approved := given("bonus-00001", success, v1alpha1.ReasonApplied, 1, moveApply).with("bonus-00001", v1alpha1.DecisionApprove, 0, v1alpha1.DecisionApplied)
	approved.decisions[0].UID = "d"
	approved.records["bonus-00001"].Spec.Action.Approval = &v1alpha1.DecisionRef{UID: "d"}
	forged := given("bonus-00001", success, v1alpha1.ReasonApplied, 1, moveApply)
	forged.records["bonus-00001"].Spec.Action.Approval = &v1alpha1.DecisionRef{UID: "d"}
	unapproved := given("bonus-00001", processing, v1alpha1.ReasonRetrying, 0)
	asking := unapproved.submissions["bonus-00001"]
	asking.Status.Message = "approve attempt 0 again with templateDigest sha256:" + strings.Repeat("a", 64)
	unapproved.submissions["bonus-00001"] = asking
	unclaimed := given("points-00001", success, v1alpha1.ReasonApplied, 1, moveApply)
	unclaimed.claims = []v1alpha1.TaskRecord{{Spec: v1alpha1.TaskRecordSpec{Holder: &v1alpha1.Holder{Record: "gone", UID: "gone"}}}}
	successor := given("points-00001", success, v1alpha1.ReasonApplied, 1, moveApply)
	successor.claims = []v1alpha1.TaskRecord{{Spec: v1alpha1.TaskRecordSpec{Holder: &v1alpha1.Holder{Record: successor.records["points-00001"].Name, UID: "another"}}}}
	foreign := given("letter-00001", success, v1alpha1.ReasonApplied, 1, moveApply)
	foreign.entries[0].Amount = "1"
	bad := given("letter-00001", success, v1alpha1.ReasonApplied, 1, moveApply)
	bad.records["letter-00001"].Spec.Action.PayloadDigest, _ = v1alpha1.PayloadDigest(&submissionOf("", "letter-00001", badPayload).Spec)
	bad.entries[0].Amount = "-1"
	leaking := given("letter-00001", success, v1alpha1.ReasonApplied, 1, moveApply)
	leaking.leaks = []string{"leak: a goroutine"}
	for _, tt := range []struct {
		reason string
		e      *evidence
		want   string // the invariant that is broken; none: nothing is
	}{
		{"one effect", given("letter-00001", success, v1alpha1.ReasonApplied, 1, moveApply), ""},
		{"found out by asking", given("charge-00001", success, v1alpha1.ReasonVerifiedApplied, 1, moveDropAfter), ""},
		{"refused", given("letter-00001", failed, v1alpha1.ReasonRejected, 0, moveReject), ""},
		{"a lost answer asks", given("letter-00001", processing, v1alpha1.ReasonOutcomeUnknown, 1, moveDropAfter), ""},
		{"two effects", given("charge-00001", success, v1alpha1.ReasonApplied, 2, moveStall, moveApply), "I4"},
		{"success without an effect", given("letter-00001", success, v1alpha1.ReasonApplied, 0), "I5"},
		{"failed with an effect", given("refund-00001", failed, v1alpha1.ReasonRetriesExhausted, 1, moveError), "I5"},
		{"an end after a lost answer", given("letter-00001", failed, v1alpha1.ReasonRejected, 0, moveDropBefore, moveReject), "I4"},
		{"a lost answer, and a person's", confirmed, ""},
		{"a lost answer, and a person's that was refused", refused, "I4"},
		{"a lost answer, and a person's about another attempt", another, "I4"},
		{"a decision that nobody judged", undecided, "I9"},
		{"a person is asked though the receiver can tell", given("charge-00001", processing, v1alpha1.ReasonOutcomeUnknown, 0, moveDropBefore), "I9"},
		{"approved", approved, ""},
		{"not approved", given("bonus-00001", success, v1alpha1.ReasonApplied, 1, moveApply), "approval"},
		{"another payload was sent", foreign, "I6: another payload"},
		{"bad input was sent", bad, "I10"},
		{"tried again, and waits for an approval", unapproved, ""},
		{"approved by a decision that nobody made", forged, "approval"},
		{"a claim that nobody holds", unclaimed, "leak"},
		{"a claim that the holder's successor does not know of", successor, "leak"},
		{"something leaks", leaking, "leak"},
		{"still moving", given("letter-00001", processing, v1alpha1.ReasonRetrying, 0, moveBusy), "I9"},
		{"an effect of its own beside the first", given("points-00001", success, v1alpha1.ReasonAlreadyApplied, 1, moveApply), "I7"},
		{"an effect that nobody asked for", stranger, "I2"},
		{"called without a record", forgotten, "I2"},
		{"a business key twice", pair, "I7"},
		{"another result in status", unequal, "I6"},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			wrong := strings.Join(tt.e.judge(), "\n")
			if (tt.want == "") != (wrong == "") || !strings.Contains(wrong, tt.want) {
				t.Errorf("want %q, found %q", tt.want, wrong)
			}
		})
	}
}

func TestMovesAreOfTheSeed(t *testing.T) {
	seen := map[move]bool{}
	for n := range 1000 {
		key := keyOf(actions[0], n)
		m := moveOf(usual, 7, key, 1)
		if seen[m] = true; m != moveOf(usual, 7, key, 1) {
			t.Fatalf("%s: drawn twice, and not the same", key)
		}
	}
	if len(seen) != len(usual) {
		t.Errorf("only %v were drawn", seen)
	}
}

func TestFirstResultWins(t *testing.T) {
	success := func(digest string) event { return saw("0", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied, digest) }
	failed := saw("0", v1alpha1.PhaseFailed, v1alpha1.ReasonRejected, "")
	for _, tt := range []struct {
		reason string
		events []event
		ok     bool
	}{
		{"the same", inTurn(success("a"), success("a")), true},
		{"another", inTurn(success("a"), success("b")), false},
		{"another phase", inTurn(failed, success("a")), false},
		{"tried again", inTurn(failed, retried(), success("a")), true},
		{"success is not tried again", inTurn(success("a"), retried(), success("b")), false},
	} {
		if wrong := firstResultWins(tt.events); (len(wrong) == 0) != tt.ok {
			t.Errorf("%s: found %q", tt.reason, wrong)
		}
	}
}
