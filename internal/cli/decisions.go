package cli

import (
	"slices"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// deciding is one kind of decision as a command.
type deciding struct {
	action  v1alpha1.DecisionAction
	verb    string // the command
	done    string // what a line of output ends with
	short   string
	long    string
	example string
	// fits says whether a selection takes it in: that the decision can be of use there. What is named is not asked; the
	// operator judges it.
	fits func(*subject) bool
}

var decisions = []*deciding{
	{
		action: v1alpha1.DecisionApprove, verb: "approve", done: "approved",
		short: "Let a submission begin whose template asks for approval",
		long: `Let a submission begin whose template asks for approval.

What is approved is this submission under its template's effect and verification as they are now. Their digest is pinned: after
an edit it is asked again. To approve just what you have looked at, give the digest that explain shows.`,
		example: `# Approve one
kubectl taskonce approve refund-order-1001 --reason="The parcel came back undamaged."

# Approve all that wait in a namespace; a preview is shown first
kubectl taskonce approve --all -n shop --reason="Checked against the returns list."`,
		fits: func(s *subject) bool { return s.AwaitsApproval() },
	},
	{
		action: v1alpha1.DecisionCancel, verb: "cancel", done: "cancelled",
		short: "End what has certainly not happened; this denies an approval, too",
		long: `End what has certainly not happened: before it began, while it waits for its approval, for a business key or for a time,
and between two attempts. It becomes Failed/Cancelled. What may have happened cannot be cancelled: settle it first.
What is cancelled before its approval is final; anything else can be retried.`,
		example: `# Deny an approval
kubectl taskonce cancel refund-order-1001 --reason="The parcel was empty."

# End what is still to be tried again, for one template
kubectl taskonce cancel --field-selector=spec.templateRef.name=send-message,status.reason=Retrying --reason="Campaign withdrawn."`,
		fits: func(s *subject) bool { return !s.phase().Terminal() && !s.inDoubt() },
	},
	{
		action: v1alpha1.DecisionRetry, verb: "retry", done: "opened again",
		short: "Open a failed submission again",
		long: `Open a failed submission again. It needs its submission: apply that again where it was deleted. What was ended before
its approval stays ended, and so does what never was valid (InvalidName, InvalidParameters, KeyMismatch, KeyReused).`,
		example: `# All whose receiver was down for too long
kubectl taskonce retry --field-selector=status.reason=RetriesExhausted -n shop --reason="The receiver is back."`,
		fits: func(s *subject) bool {
			return s.Submission != nil && s.Action() != nil && s.phase() == v1alpha1.PhaseFailed && !s.Action().Unapproved
		},
	},
	{
		action: v1alpha1.DecisionConfirmApplied, verb: "confirm-applied", done: "confirmed as applied",
		short: "Say of an unknown outcome that it happened",
		long: `Say of an unknown outcome that it happened. Look at the receiver first: this becomes Success/ConfirmedApplied, which is
final, and every duplicate gets it.`,
		example: `kubectl taskonce confirm-applied print-letter-12 --reason="It lies in the tray of printer 3." --result='{"printer": 3}'`,
		fits:    doubtful,
	},
	{
		action: v1alpha1.DecisionConfirmNotApplied, verb: "confirm-not-applied", done: "confirmed as not applied",
		short: "Say of an unknown outcome that it did not happen, and will not",
		long: `Say of an unknown outcome that it did not happen, and will not any more: also not later, from a queue in between. It becomes
Failed/ConfirmedNotApplied, and retry may follow.`,
		example: `kubectl taskonce confirm-not-applied print-letter-12 --reason="Printer 3 was off, and its queue is empty."`,
		fits:    doubtful,
	},
	{
		action: v1alpha1.DecisionRelease, verb: "release", done: "released",
		short: "Give the business key of a successful submission free",
		long: `Give the business key of a successful submission free, so that another submission, under another idempotency key, may
apply the effect for it once more. The released submission keeps its result, and replays it.`,
		example: `kubectl taskonce release award-42-stu-7 --reason="The award was revoked by hand, and is to be given again."`,
		fits: func(s *subject) bool {
			return s.phase() == v1alpha1.PhaseSuccess && s.Action() != nil && s.Action().Claim != "" && s.Action().DuplicateOf == ""
		},
	},
}

// doubtful reports whether there is something to confirm.
func doubtful(s *subject) bool {
	return s.inDoubt() && !s.Action().Attempt.Open()
}

// decisionCalled returns the command for an action.
func decisionCalled(action v1alpha1.DecisionAction) *deciding {
	i := slices.IndexFunc(decisions, func(d *deciding) bool { return d.action == action })
	return decisions[i]
}
