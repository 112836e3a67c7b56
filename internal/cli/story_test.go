package cli

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
)

const (
	pending    = v1alpha1.PhasePending
	processing = v1alpha1.PhaseProcessing
	success    = v1alpha1.PhaseSuccess
	hasFailed  = v1alpha1.PhaseFailed
)

func TestStories(t *testing.T) {
	stories := map[string]*story{
		"new": told(),
		"awaiting-approval": told(is(pending, v1alpha1.ReasonAwaitingApproval, "it waits for an approval"), under(digest),
			decided(v1alpha1.DecisionApprove, v1alpha1.DecisionRefused, "who submitted it cannot approve it", "ann")),
		"outcome-unknown": told(begun(v1alpha1.OutcomeUnknown, "the connection was closed before the answer"),
			is(processing, v1alpha1.ReasonOutcomeUnknown, "it may have been applied, and nobody can tell"),
			decided(v1alpha1.DecisionCancel, v1alpha1.DecisionSuperseded, "it judges attempt 0", "")),
		"outcome-unknown-without-template": told(begun(v1alpha1.OutcomeUnknown, "lost"), is(processing, v1alpha1.ReasonOutcomeUnknown, "its template is gone"),
			journal(func(a *v1alpha1.Action) { a.Attempt.Outcome = "" })),
		"deleted": told(begun(v1alpha1.OutcomeUnknown, "lost"), is(processing, v1alpha1.ReasonOutcomeUnknown, "it may have been applied"),
			journal(func(a *v1alpha1.Action) {
				a.Parameters = &apiextensionsv1.JSON{Raw: []byte(`{"orderId":"1001"}`)}
			}), gone),
		"confirmed": told(begun(v1alpha1.OutcomeApplied, "lost"), journal(holding), journal(func(a *v1alpha1.Action) { a.Submitter, a.OnBehalfOf = "ann", "stu-7" }),
			is(success, v1alpha1.ReasonConfirmedApplied, "a person confirmed that it was applied"), ended,
			decided(v1alpha1.DecisionConfirmApplied, v1alpha1.DecisionApplied, "done", "ben"),
			func(s *story) {
				s.Submission.Spec.IdempotencyKey = "refund:1001"
				s.Submission.Status.Result = &apiextensionsv1.JSON{Raw: []byte("{\n  \"receipt\": 17\n}")}
			}),
		"retrying": told(begun(v1alpha1.OutcomeNotApplied, "429: come back later"), is(processing, v1alpha1.ReasonRetrying, "it is tried again"), under(digest),
			journal(func(a *v1alpha1.Action) {
				a.History = []v1alpha1.Attempt{{Number: 1, Outcome: v1alpha1.OutcomeNotApplied, Message: "connection refused"}}
				a.Attempt.Number = 2
			})),
		"retrying-with-refused-credentials": told(begun(v1alpha1.OutcomeNotApplied, "401: who are you?"), is(processing, v1alpha1.ReasonRetrying, "the receiver refuses the template's credentials"),
			under(digest), with(v1alpha1.ConditionReceiverHealthy, metav1.ConditionFalse)),
		"retrying-without-template": told(begun(v1alpha1.OutcomeNotApplied, "429: come back later"), is(processing, v1alpha1.ReasonRetrying, "the next attempt waits for the template")),
		"retrying-deleted":          told(begun(v1alpha1.OutcomeNotApplied, "connection refused"), is(processing, v1alpha1.ReasonRetrying, "connection refused; it is tried again"), under(digest), gone),
		"edited": told(begun(v1alpha1.OutcomeNotApplied, "429: come back later"), is(processing, v1alpha1.ReasonRetrying, "the template's effect changed"),
			under("sha256:ffffffffffffffffffff"), decided(v1alpha1.DecisionApprove, v1alpha1.DecisionPending, "", "ben")),
		"never-approved": told(begun(v1alpha1.OutcomeNotApplied, "429: come back later"), is(processing, v1alpha1.ReasonRetrying, "the template asks for an approval"),
			journal(func(a *v1alpha1.Action) { a.ApprovedDigest = "" }), under("sha256:ffffffffffffffffffff")),
		"held":                     told(begun(v1alpha1.OutcomeNotApplied, "never sent"), journal(holding), is(pending, v1alpha1.ReasonBusinessKeyHeld, "another one is carried out"), heldBy("refund-again", false)),
		"held-by-what-was-deleted": told(begun(v1alpha1.OutcomeNotApplied, "never sent"), journal(holding), is(pending, v1alpha1.ReasonBusinessKeyHeld, "its holder was deleted"), heldBy("refund-again", true)),
		"held-by-nothing":          told(begun(v1alpha1.OutcomeNotApplied, "never sent"), journal(holding), is(pending, v1alpha1.ReasonBusinessKeyHeld, "claimed by a record that was deleted"), heldBy("", true)),
		"reopened": told(begun(v1alpha1.OutcomeApplied, ""), is(success, v1alpha1.ReasonApplied, "the receiver answered 200 OK"), decided(v1alpha1.DecisionCancel, v1alpha1.DecisionApplied, "", "ben"),
			decided(v1alpha1.DecisionRetry, v1alpha1.DecisionApplied, "", "ben"), ended, func(s *story) {
				begun := metav1.NewMicroTime(s.Submission.Status.CompletedAt.Add(9e8)) // within the second in which it ended
				a := s.Action()
				a.History, a.Attempt.Number, a.Attempt.StartedAt = []v1alpha1.Attempt{{Number: 1, StartedAt: a.Attempt.StartedAt, Outcome: v1alpha1.OutcomeNotApplied, Message: "connection refused"}}, 2, &begun
			}),
		"executing":   told(begun("", ""), is(processing, v1alpha1.ReasonExecuting, "the effect is being carried out")),
		"rejected":    told(begun(v1alpha1.OutcomeNotApplied, "422"), is(hasFailed, v1alpha1.ReasonRejected, "422: no such order"), ended),
		"invalid":     told(is(hasFailed, v1alpha1.ReasonInvalidParameters, "params.orderId: must be a string"), ended),
		"hidden":      told(is(hasFailed, v1alpha1.ReasonRejected, "422: no such order"), ended, hidden),
		"hidden-held": told(is(pending, v1alpha1.ReasonBusinessKeyHeld, "another one is carried out"), hidden),
		"denied":      told(begun("", ""), journal(unapproved), is(hasFailed, v1alpha1.ReasonCancelled, "cancelled before it began"), ended),
	}
	for name, s := range stories {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			s.write(&text, noon, false)
			golden(t, "story-"+name, text.String())
		})
	}
}

func TestInboxAsATable(t *testing.T) {
	stalled := func(s *story) {
		s.Submission.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionStalled, LastTransitionTime: before(180e9)}}
	}
	waiting := []*subject{
		told(is(pending, v1alpha1.ReasonAwaitingApproval, "")).subject,
		told(begun(v1alpha1.OutcomeUnknown, ""), is(processing, v1alpha1.ReasonOutcomeUnknown, ""), gone).subject,
		told(begun(v1alpha1.OutcomeUnknown, ""), is(processing, v1alpha1.ReasonOutcomeUnknown, ""), stalled).subject,
		told(is(pending, v1alpha1.ReasonBusinessKeyHeld, ""), heldBy("", true)).subject,
		told(begun(v1alpha1.OutcomeNotApplied, ""), is(processing, v1alpha1.ReasonRetrying, ""), under("sha256:other")).subject,
	}
	var text strings.Builder
	if err := writeInbox(&text, waiting, noon); err != nil {
		t.Fatal(err)
	}
	golden(t, "inbox", text.String())
}

// TestWhatWaitsForAPerson: the rest goes on by itself, and is not in the inbox.
func TestWhatWaitsForAPerson(t *testing.T) {
	for reason, phase := range reasons(t) {
		s := told(begun(v1alpha1.OutcomeNotApplied, ""), is(phase, reason, ""), under(digest)).subject
		asks := inbox.Asks(reason) != ""
		if got := s.WaitsFor() != ""; got != asks {
			t.Errorf("%s: in the inbox: %v", reason, got)
		}
		if asks && phase.Terminal() {
			t.Errorf("%s has ended, and waits for nobody", reason)
		}
	}
}

// TestEveryReasonHasAdvice, whose commands exist.
func TestEveryReasonHasAdvice(t *testing.T) {
	var commands []string
	for _, command := range New(discard(), "").Commands() {
		commands = append(commands, command.Name())
	}
	for reason, phase := range reasons(t) {
		for _, s := range []*story{told(is(phase, reason, "")), told(begun(v1alpha1.OutcomeUnknown, ""), is(phase, reason, "")), told(begun(v1alpha1.OutcomeNotApplied, ""), is(phase, reason, ""), gone)} {
			if s.Submission == nil && phase == pending {
				continue // a record is never Pending
			}
			all := advise(s.subject)
			if len(all) == 0 {
				t.Errorf("%s: nothing is said", reason)
			}
			for _, advice := range all {
				for _, command := range advice.commands {
					words := strings.Fields(command)
					if words[1] == "taskonce" && !slices.Contains(commands, words[2]) {
						t.Errorf("%s: there is no command %q", reason, words[2])
					}
					if !strings.Contains(command, " -n ") {
						t.Errorf("%s: %q names no namespace", reason, command)
					}
				}
			}
		}
	}
}
