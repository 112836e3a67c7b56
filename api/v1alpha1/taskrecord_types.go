package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TaskRecord is a row of the dedup table: written before the effect and kept after the submission is gone. Only
// the operator writes it. Its name is computed from what it guards, so that the API server keeps it unique. It
// has no status subresource: a backup that drops status keeps it whole.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=trec,categories=taskonce
// +kubebuilder:selectablefield:JSONPath=`.spec.action.reason`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Template",type=string,JSONPath=`.spec.template`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.spec.action.phase`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.spec.action.reason`
// +kubebuilder:printcolumn:name="Unsettled",type=boolean,JSONPath=`.spec.action.unsettled`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Key",type=string,priority=1,JSONPath=`.spec.key`
// +kubebuilder:printcolumn:name="Holder",type=string,priority=1,JSONPath=`.spec.holder.record`
type TaskRecord struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What is guarded, and how far it has come.
	// +required
	Spec TaskRecordSpec `json:"spec"`
}

// RecordType says what a record guards.
// +kubebuilder:validation:Enum=IdempotencyKey;BusinessKey
type RecordType string

const (
	// RecordIdempotencyKey guards an idempotency key and journals its action.
	RecordIdempotencyKey RecordType = "IdempotencyKey"
	// RecordBusinessKey is a claim: it holds a business key for one record.
	RecordBusinessKey RecordType = "BusinessKey"
)

// TaskRecordSpec is a record of either type.
//
// +kubebuilder:validation:XValidation:rule="self.type == oldSelf.type && self.key == oldSelf.key && self.template == oldSelf.template",message="what a record guards cannot be changed"
// +kubebuilder:validation:XValidation:rule="self.type == 'IdempotencyKey' ? has(self.action) && !has(self.holder) : has(self.holder) && !has(self.action)",message="a record of type IdempotencyKey has an action, one of type BusinessKey has a holder"
type TaskRecordSpec struct {
	// What is guarded: an idempotency key, or a business key (then the record is a claim).
	// +required
	Type RecordType `json:"type"`

	// The whole key. Whoever finds a record by its name compares it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Key string `json:"key"`

	// The template of the action.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Template string `json:"template"`

	// The journal of the action; of type IdempotencyKey only.
	// +optional
	Action *Action `json:"action,omitempty"`

	// Who holds the business key; of type BusinessKey only.
	// +optional
	Holder *Holder `json:"holder,omitempty"`
}

// Action is the journal of one action: what was asked for, what was tried, what came of it.
//
// +kubebuilder:validation:XValidation:rule="oldSelf.phase != 'Success' || self.phase == 'Success'",message="Success is final"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.resultDigest) || (has(self.resultDigest) && self.resultDigest == oldSelf.resultDigest)",message="a stored result cannot be changed"
// +kubebuilder:validation:XValidation:rule="oldSelf.phase != 'Failed' || self.phase == 'Failed' || (has(self.decision) && self.decision.action == 'Retry' && (!has(oldSelf.decision) || self.decision.uid != oldSelf.decision.uid))",message="Failed is left only by a Retry decision"
// +kubebuilder:validation:XValidation:rule="self.attempt.number >= oldSelf.attempt.number",message="the attempt number never falls"
// +kubebuilder:validation:XValidation:rule="self.payloadDigest == oldSelf.payloadDigest",message="the payload of an action cannot be changed"
type Action struct {
	// The digest of templateRef and parameters.
	// +required
	// +kubebuilder:validation:MaxLength=71
	PayloadDigest string `json:"payloadDigest"`

	// The digest of the template's effect and verification, as they were when the current attempt was begun.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	EffectDigest string `json:"effectDigest,omitempty"`

	// The parameters, while the action may still have to be verified without its submission.
	// +optional
	Parameters *apiextensionsv1.JSON `json:"parameters,omitempty"`

	// The submission that was first seen with this key.
	// +required
	Submission SubmissionRef `json:"submission"`

	// Processing, Success or Failed.
	// +required
	// +kubebuilder:validation:Enum=Processing;Success;Failed
	Phase Phase `json:"phase"`

	// Why it is in this phase.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Reason Reason `json:"reason"`

	// The same in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// True: some attempt may have had its effect, and nobody has found out yet.
	// +optional
	Unsettled bool `json:"unsettled,omitempty"`

	// The current attempt; number 0: none was begun.
	// +required
	Attempt Attempt `json:"attempt"`

	// Earlier attempts, oldest first; at most the last 10.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	History []Attempt `json:"history,omitempty"`

	// How many attempts count against retry.maxAttempts: those that were refused, did not reach the receiver, or were
	// verified to have had no effect, since the last Retry decision.
	// +optional
	Tries int32 `json:"tries,omitempty"`

	// How many checks, and repeats in place of a check, have not cleared up what is unsettled.
	// +optional
	Checks int32 `json:"checks,omitempty"`

	// How often a Retry decision reopened the action. A claim that was written before the last one is written again.
	// +optional
	Retries int32 `json:"retries,omitempty"`

	// When the next step is due, where it waits for a time.
	// +optional
	NextAt *metav1.MicroTime `json:"nextAt,omitempty"`

	// The first stored result, or a note where it was too large or no JSON.
	// +optional
	Result *apiextensionsv1.JSON `json:"result,omitempty"`

	// The digest of the whole result as canonical JSON.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	ResultDigest string `json:"resultDigest,omitempty"`

	// The business key, and the claim that stands for it.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	BusinessKey string `json:"businessKey,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Claim string `json:"claim,omitempty"`

	// The submission that applied the effect, where it was another one with the same business key.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	DuplicateOf string `json:"duplicateOf,omitempty"`

	// On whose behalf that other one was, where a gateway said so.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	OutcomeOnBehalfOf string `json:"outcomeOnBehalfOf,omitempty"`

	// Who created the submission, where admission told.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Submitter string `json:"submitter,omitempty"`

	// On whose behalf that was, where a gateway said so.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	OnBehalfOf string `json:"onBehalfOf,omitempty"`

	// Who approved it, and the digest of the effect and verification that was approved.
	// +optional
	Approval *DecisionRef `json:"approval,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=71
	ApprovedDigest string `json:"approvedDigest,omitempty"`

	// True: it was ended while it waited for its approval, so no Retry may start it.
	// +optional
	Unapproved bool `json:"unapproved,omitempty"`

	// The last decision that changed this action.
	// +optional
	Decision *DecisionRef `json:"decision,omitempty"`

	// The client's trace context.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Traceparent string `json:"traceparent,omitempty"`

	// This record's own UID, from its second write on. A mismatch means that it was restored from a backup.
	// +optional
	UID types.UID `json:"uid,omitempty"`

	// When the first attempt was begun.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// When it became Success or Failed.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`

	// Until when the record is kept; none: for ever.
	// +optional
	ExpiresAt *metav1.Time `json:"expiresAt,omitempty"`
}

// SubmissionRef names a submission, and which of that name.
type SubmissionRef struct {
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// +optional
	UID types.UID `json:"uid,omitempty"`
}

// Attempt is one try of the effect. It is open while it has no outcome.
type Attempt struct {
	// 1, 2, …; 0: none was begun.
	// +required
	// +kubebuilder:validation:Minimum=0
	Number int32 `json:"number"`

	// When it was begun, by the executor's clock.
	// +optional
	StartedAt *metav1.MicroTime `json:"startedAt,omitempty"`

	// How long it may take. Another process waits so long, and a grace, before it takes the attempt as lost.
	// +optional
	Timeout metav1.Duration `json:"timeout,omitempty,omitzero"`

	// Which operator process runs it: random for each process start.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Executor string `json:"executor,omitempty"`

	// What it came to; empty: it is open.
	// +optional
	Outcome Outcome `json:"outcome,omitempty"`

	// More about the outcome, for a person.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`

	// True: something that the template names was missing, so it was never sent, and that was not seen since. The next
	// attempt is begun when it is there.
	// +optional
	Missing bool `json:"missing,omitempty"`

	// Where a receiver that took the action on can be asked for its progress.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Location string `json:"location,omitempty"`

	// The number in the name of its Job: that of the attempt which named it. Attempts share one until it was seen
	// finished.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Job int32 `json:"job,omitempty"`

	// True: its Job was seen finished, so that a later attempt makes another one.
	// +optional
	Finished bool `json:"finished,omitempty"`

	// True: an earlier Job was in doubt when this one was named, so what becomes of this one does not settle the action.
	// +optional
	Doubt bool `json:"doubt,omitempty"`
}

// Open reports whether the attempt was begun and has no outcome yet.
func (a *Attempt) Open() bool { return a.Number > 0 && a.Outcome == "" }

// BetweenAttempts reports whether no attempt is under way or in doubt, and the action has not ended: so far it had no effect.
func (a *Action) BetweenAttempts() bool {
	return !a.Phase.Terminal() && !a.Unsettled && !a.Attempt.Open()
}

// LeftAlone reports whether the action does not go on before its submission is applied again: that is gone, and no attempt
// had an effect. It has a time to end or, where records are kept for good, no time for its next step.
func (a *Action) LeftAlone() bool {
	return a.BetweenAttempts() && (a.ExpiresAt != nil || a.NextAt == nil)
}

// Holder says which record holds a business key.
type Holder struct {
	// The name of the record.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Record string `json:"record"`
	// Its UID when the claim was written.
	// +required
	UID types.UID `json:"uid"`
	// The record's count of Retry decisions when the claim was written.
	// +optional
	Retries int32 `json:"retries,omitempty"`
}

// DecisionRef names a decision and what it said.
type DecisionRef struct {
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// +required
	UID types.UID `json:"uid"`
	// +required
	Action DecisionAction `json:"action"`
	// Who decided, as admission told.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	By string `json:"by,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Reason string `json:"reason,omitempty"`
	// When the decision was created.
	// +optional
	At metav1.Time `json:"at,omitempty,omitzero"`
}

// TaskRecordList is a list of records.
//
// +kubebuilder:object:root=true
type TaskRecordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TaskRecord `json:"items"`
}
