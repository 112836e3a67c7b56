package v1alpha1

// Phase is where a submission stands.
// +kubebuilder:validation:Enum=Pending;Processing;Success;Failed
type Phase string

const (
	// PhasePending says that nothing has been begun; the reason says what is awaited.
	PhasePending Phase = "Pending"
	// PhaseProcessing says that an attempt was begun, so the effect may have happened.
	PhaseProcessing Phase = "Processing"
	// PhaseSuccess says that the effect happened, once. It never changes (invariant I5).
	PhaseSuccess Phase = "Success"
	// PhaseFailed says that the effect certainly did not happen. Only a Retry decision changes it.
	PhaseFailed Phase = "Failed"
)

// Terminal reports whether nothing more happens by itself.
func (p Phase) Terminal() bool { return p == PhaseSuccess || p == PhaseFailed }

// Reason says why a submission is in its phase. The list is closed.
type Reason string

// Reasons of Pending: what is awaited before anything begins.
const (
	// ReasonAccepted: it was stored, and is about to begin.
	ReasonAccepted Reason = "Accepted"
	// ReasonNotYet: it waits for its notBefore.
	ReasonNotYet Reason = "NotYet"
	// ReasonTemplateNotFound: its template does not exist.
	ReasonTemplateNotFound Reason = "TemplateNotFound"
	// ReasonTemplateNotReady: its template does not compile.
	ReasonTemplateNotReady Reason = "TemplateNotReady"
	// ReasonTemplateSuspended: its template begins nothing new.
	ReasonTemplateSuspended Reason = "TemplateSuspended"
	// ReasonDependencyMissing: a Secret, a right, or credentials that the receiver accepts are missing.
	ReasonDependencyMissing Reason = "DependencyMissing"
	// ReasonAwaitingApproval: it waits for an Approve decision.
	ReasonAwaitingApproval Reason = "AwaitingApproval"
	// ReasonBusinessKeyHeld: another submission acts on its business key.
	ReasonBusinessKeyHeld Reason = "BusinessKeyHeld"
	// ReasonLimitReached: it waits for a place among its template's attempts, or the operator's.
	ReasonLimitReached Reason = "LimitReached"
)

// Reasons of Processing: what the begun attempt is doing.
const (
	// ReasonExecuting: its attempt runs.
	ReasonExecuting Reason = "Executing"
	// ReasonInProgress: the receiver has accepted it and not finished yet.
	ReasonInProgress Reason = "InProgress"
	// ReasonRetrying: the last attempt had no effect, and another one follows.
	ReasonRetrying Reason = "Retrying"
	// ReasonVerifying: the operator finds out what became of its attempt.
	ReasonVerifying Reason = "Verifying"
	// ReasonOutcomeUnknown: it may have happened, and a person has to find out.
	ReasonOutcomeUnknown Reason = "OutcomeUnknown"
)

// Reasons of Success: how it is known that the effect happened.
const (
	// ReasonApplied: the receiver said so.
	ReasonApplied Reason = "Applied"
	// ReasonAlreadyApplied: another submission had applied it for the same business key; this is its result.
	ReasonAlreadyApplied Reason = "AlreadyApplied"
	// ReasonVerifiedApplied: the answer was lost, and verification found it.
	ReasonVerifiedApplied Reason = "VerifiedApplied"
	// ReasonConfirmedApplied: a person confirmed it.
	ReasonConfirmedApplied Reason = "ConfirmedApplied"
)

// Reasons of Failed: why the effect did not happen.
const (
	// ReasonInvalidName: its name is not that of its key. No record: the key is not used up.
	ReasonInvalidName Reason = "InvalidName"
	// ReasonInvalidParameters: the template does not accept its parameters. No record.
	ReasonInvalidParameters Reason = "InvalidParameters"
	// ReasonKeyMismatch: the template makes another key of its parameters. No record.
	ReasonKeyMismatch Reason = "KeyMismatch"
	// ReasonKeyReused: its key belongs to another action, which is unharmed. No record.
	ReasonKeyReused Reason = "KeyReused"
	// ReasonBusinessKeyConflict: another submission has applied it, and the template says Fail.
	ReasonBusinessKeyConflict Reason = "BusinessKeyConflict"
	// ReasonRejected: the receiver refused it for good.
	ReasonRejected Reason = "Rejected"
	// ReasonRetriesExhausted: no attempt of retry.maxAttempts had an effect.
	ReasonRetriesExhausted Reason = "RetriesExhausted"
	// ReasonTooLate: it had not begun by its notAfter.
	ReasonTooLate Reason = "TooLate"
	// ReasonCancelled: a person cancelled it.
	ReasonCancelled Reason = "Cancelled"
	// ReasonConfirmedNotApplied: a person confirmed that it did not happen.
	ReasonConfirmedNotApplied Reason = "ConfirmedNotApplied"
)

// ofInput reports whether a reason is about what was submitted, and not about what came of it: the only ones without a record.
func (r Reason) ofInput() bool {
	switch r {
	case ReasonInvalidName, ReasonInvalidParameters, ReasonKeyMismatch, ReasonKeyReused:
		return true
	default:
		return false
	}
}

// Outcome is what an attempt came to.
// +kubebuilder:validation:Enum=Applied;NotApplied;InProgress;Unknown
type Outcome string

const (
	// OutcomeApplied says that the effect happened.
	OutcomeApplied Outcome = "Applied"
	// OutcomeNotApplied says that the attempt certainly had no effect.
	OutcomeNotApplied Outcome = "NotApplied"
	// OutcomeInProgress says that the receiver accepted it and has not finished.
	OutcomeInProgress Outcome = "InProgress"
	// OutcomeUnknown says that nobody can tell: the request may have had its effect.
	OutcomeUnknown Outcome = "Unknown"
)

// Condition types of submissions and templates. Reconciling and Stalled are present only while true, as kstatus
// has it; Finished is true for every terminal phase.
const (
	ConditionReady       = "Ready"
	ConditionReconciling = "Reconciling"
	ConditionStalled     = "Stalled"
	ConditionFinished    = "Finished"
	// ConditionReceiverHealthy says of a template whether its receiver accepts its credentials; absent: not known yet.
	ConditionReceiverHealthy = "ReceiverHealthy"
)

// Labels and annotations.
const (
	// LabelDue holds the time, in seconds since 1970, at which somebody must look at an object again: at a record, a
	// judged decision, or a submission that failed without a record. The due loop selects by it ("taskonce.dev/due<now"),
	// so that a sweep transfers what is due and not what exists.
	LabelDue = "taskonce.dev/due"
	// LabelSubmission holds the name of the submission that a record guards, or that a Job is run for.
	LabelSubmission = "taskonce.dev/submission"
	// LabelRecord holds the name of the record that a judged decision is kept with.
	LabelRecord = "taskonce.dev/record"
	// LabelTemplate holds the name of the template that a Job is made from.
	LabelTemplate = "taskonce.dev/template"
	// AnnotationSubmittedBy names the authenticated user who created a submission; set at admission.
	AnnotationSubmittedBy = "taskonce.dev/submitted-by"
	// AnnotationOnBehalfOf names who a submission was made for, where that is not who made it: the person whose token a
	// gateway has verified. Only holders of the verb submit-on-behalf on tasksubmissions may set it, and nobody may change it.
	AnnotationOnBehalfOf = "taskonce.dev/on-behalf-of"
	// AnnotationDecidedBy names the authenticated user who created a decision; set at admission.
	AnnotationDecidedBy = "taskonce.dev/decided-by"
	// AnnotationTraceparent carries the client's W3C trace context. It is no part of the action: a retry has a
	// new trace and is the same action.
	AnnotationTraceparent = "taskonce.dev/traceparent"
	// AnnotationClientToken holds a random value of whoever created a submission. A client that reads its own token
	// back knows that a create whose answer was lost was the one that landed. Nothing else depends on it.
	AnnotationClientToken = "taskonce.dev/client-token"
)
