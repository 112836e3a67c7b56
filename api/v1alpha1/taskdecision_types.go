package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TaskDecision is a person's answer about one submission, with who and why. It is an ordinary object: it can be
// applied, its creation is governed by RBAC, and it is judged once.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=tdec,categories=taskonce
// +kubebuilder:printcolumn:name="Submission",type=string,JSONPath=`.spec.submission`
// +kubebuilder:printcolumn:name="Action",type=string,JSONPath=`.spec.action`
// +kubebuilder:printcolumn:name="Attempt",type=integer,JSONPath=`.spec.attempt`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="By",type=string,JSONPath=`.metadata.annotations.taskonce\.dev/decided-by`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.message`
// +kubebuilder:selectablefield:JSONPath=`.status.state`
// +kubebuilder:selectablefield:JSONPath=`.spec.submission`
type TaskDecision struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The answer. It cannot be changed.
	// +required
	Spec TaskDecisionSpec `json:"spec"`

	// What came of it.
	// +optional
	// +kubebuilder:default={state: Pending}
	Status TaskDecisionStatus `json:"status,omitempty"`
}

// DecisionAction is what a person decides.
// +kubebuilder:validation:Enum=Approve;Cancel;Retry;ConfirmApplied;ConfirmNotApplied;Release
type DecisionAction string

const (
	// DecisionApprove lets a submission begin whose template asks for approval.
	DecisionApprove DecisionAction = "Approve"
	// DecisionCancel ends what has certainly not happened.
	DecisionCancel DecisionAction = "Cancel"
	// DecisionRetry opens a failed submission again.
	DecisionRetry DecisionAction = "Retry"
	// DecisionConfirmApplied says that an unknown outcome was: it happened.
	DecisionConfirmApplied DecisionAction = "ConfirmApplied"
	// DecisionConfirmNotApplied says that an unknown outcome was: it did not happen, and will not.
	DecisionConfirmNotApplied DecisionAction = "ConfirmNotApplied"
	// DecisionRelease releases the business key of a successful submission.
	DecisionRelease DecisionAction = "Release"
)

// TaskDecisionSpec is the answer. It is immutable.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a decision cannot be changed: make another one"
// +kubebuilder:validation:XValidation:rule="!has(self.templateDigest) || self.action == 'Approve'",message="only an Approve has a templateDigest: leave it out"
type TaskDecisionSpec struct {
	// The name of the submission.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Submission string `json:"submission"`

	// The UID of that submission or, where there is one, of its record.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID types.UID `json:"uid"`

	// The attempt that is judged; 0: none was begun. A decision about an attempt that is over changes nothing.
	// +required
	// +kubebuilder:validation:Minimum=0
	Attempt int32 `json:"attempt"`

	// What is decided.
	// +required
	Action DecisionAction `json:"action"`

	// Why.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Reason string `json:"reason"`

	// What an Approve agrees to: the digest of the template's effect and verification. An edit asks again.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	TemplateDigest string `json:"templateDigest,omitempty"`

	// The result, for ConfirmApplied.
	// +optional
	Result *apiextensionsv1.JSON `json:"result,omitempty"`
}

// DecisionState says what came of a decision.
// +kubebuilder:validation:Enum=Pending;Applied;Superseded;Refused
type DecisionState string

const (
	// DecisionPending says that it was not judged yet.
	DecisionPending DecisionState = "Pending"
	// DecisionApplied says that it took effect.
	DecisionApplied DecisionState = "Applied"
	// DecisionSuperseded says that the attempt, or another decision, was over before it.
	DecisionSuperseded DecisionState = "Superseded"
	// DecisionRefused says that it makes no sense here; the message says why.
	DecisionRefused DecisionState = "Refused"
)

// TaskDecisionStatus says what came of the decision.
type TaskDecisionStatus struct {
	// Pending, Applied, Superseded or Refused.
	// +optional
	// +kubebuilder:default=Pending
	State DecisionState `json:"state,omitempty"`
	// Why, in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
	// The record of what was decided about, where there was one. The decision is removed with it.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	RecordName string `json:"recordName,omitempty"`
	// When it is tried again, where it could not be carried out yet.
	// +optional
	NextAt *metav1.MicroTime `json:"nextAt,omitempty"`
}

// TaskDecisionList is a list of decisions.
//
// +kubebuilder:object:root=true
type TaskDecisionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TaskDecision `json:"items"`
}
