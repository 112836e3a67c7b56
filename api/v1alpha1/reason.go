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
	ReasonAccepted          Reason = "Accepted"
	ReasonNotYet            Reason = "NotYet"
	ReasonTemplateNotFound  Reason = "TemplateNotFound"
	ReasonTemplateNotReady  Reason = "TemplateNotReady"
	ReasonTemplateSuspended Reason = "TemplateSuspended"
	ReasonDependencyMissing Reason = "DependencyMissing"
	ReasonAwaitingApproval  Reason = "AwaitingApproval"
	ReasonBusinessKeyHeld   Reason = "BusinessKeyHeld"
	ReasonLimitReached      Reason = "LimitReached"
)

// Reasons of Processing: what the begun attempt is doing.
const (
	ReasonExecuting      Reason = "Executing"
	ReasonInProgress     Reason = "InProgress"
	ReasonRetrying       Reason = "Retrying"
	ReasonVerifying      Reason = "Verifying"
	ReasonOutcomeUnknown Reason = "OutcomeUnknown"
)

// Reasons of Success: how it is known that the effect happened.
const (
	ReasonApplied          Reason = "Applied"
	ReasonAlreadyApplied   Reason = "AlreadyApplied"
	ReasonVerifiedApplied  Reason = "VerifiedApplied"
	ReasonConfirmedApplied Reason = "ConfirmedApplied"
)

// Reasons of Failed: why the effect did not happen.
const (
	ReasonInvalidName         Reason = "InvalidName"
	ReasonInvalidParameters   Reason = "InvalidParameters"
	ReasonKeyMismatch         Reason = "KeyMismatch"
	ReasonKeyReused           Reason = "KeyReused"
	ReasonBusinessKeyConflict Reason = "BusinessKeyConflict"
	ReasonRejected            Reason = "Rejected"
	ReasonRetriesExhausted    Reason = "RetriesExhausted"
	ReasonTooLate             Reason = "TooLate"
	ReasonCancelled           Reason = "Cancelled"
	ReasonConfirmedNotApplied Reason = "ConfirmedNotApplied"
)

// Outcome is what an attempt came to.
// +kubebuilder:validation:Enum=Applied;NotApplied;InProgress;Unknown
type Outcome string

const (
	// OutcomeApplied says that the effect happened.
	OutcomeApplied Outcome = "Applied"
	// OutcomeNotApplied says that the attempt certainly had no effect.
	OutcomeNotApplied Outcome = "NotApplied"
	// OutcomeInProgress says that the receiver took it on and has not finished.
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
