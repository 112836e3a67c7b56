package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TaskSubmission is one business action, carried out exactly once. Its name is computed from its idempotency
// key, so that the API server itself refuses the same action a second time.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=tsub,categories=taskonce
// +kubebuilder:printcolumn:name="Template",type=string,JSONPath=`.spec.templateRef.name`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.reason`
// +kubebuilder:printcolumn:name="Attempts",type=integer,JSONPath=`.status.attempts`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Key",type=string,priority=1,JSONPath=`.spec.idempotencyKey`
// +kubebuilder:printcolumn:name="Business Key",type=string,priority=1,JSONPath=`.status.businessKey`
// +kubebuilder:printcolumn:name="Duplicate Of",type=string,priority=1,JSONPath=`.status.duplicateOf`
// +kubebuilder:printcolumn:name="Completed",type=date,priority=1,JSONPath=`.status.completedAt`
// +kubebuilder:selectablefield:JSONPath=`.status.phase`
// +kubebuilder:selectablefield:JSONPath=`.status.reason`
// +kubebuilder:selectablefield:JSONPath=`.spec.templateRef.name`
// +kubebuilder:validation:XValidation:fieldPath=".metadata",rule=`!has(self.metadata.generateName) || self.metadata.generateName == ""`,message="generateName would give the same action a new name each time: leave it out and set metadata.name"
type TaskSubmission struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What is to be done, once. It cannot be changed: another action is another key.
	// +required
	Spec TaskSubmissionSpec `json:"spec"`

	// Where it stands. A projection of the record and of what is awaited: safe to lose.
	// +optional
	// +default={"phase": "Pending", "observedGeneration": -1}
	Status TaskSubmissionStatus `json:"status,omitempty"`
}

// TaskSubmissionSpec states the action. It is immutable as a whole.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the spec of a submission cannot be changed: it stands for one action; submit another action under a new key"
// +kubebuilder:validation:XValidation:rule="!has(self.notBefore) || !has(self.notAfter) || self.notBefore < self.notAfter",message="notBefore must be earlier than notAfter"
type TaskSubmissionSpec struct {
	// The client's name for the action: the same action, tried again, carries the same key. 1 to 512 bytes of
	// UTF-8 without control characters or white space at either end; compared byte for byte. Where it is left
	// out, metadata.name is the key. Otherwise metadata.name must be the name that belongs to the key.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="bytes(self).size() <= 512",message="a key has at most 512 bytes"
	// +kubebuilder:validation:XValidation:rule=`!self.matches(r'\p{Cc}|^\p{Z}|\p{Z}$')`,message="a key has no control characters, and no white space at either end: remove them"
	IdempotencyKey string `json:"idempotencyKey,omitempty"`

	// The template that says what the action does.
	// +required
	TemplateRef TemplateRef `json:"templateRef"`

	// The values that the template's expressions see as params: a JSON object that the template's schema allows.
	// +optional
	Parameters apiextensionsv1.JSON `json:"parameters,omitempty,omitzero"`

	// Not begun before this time; until then the submission is Pending with the reason NotYet.
	// +optional
	NotBefore *metav1.Time `json:"notBefore,omitempty"`

	// Where it has not begun by this time, it fails with the reason TooLate.
	// +optional
	NotAfter *metav1.Time `json:"notAfter,omitempty"`
}

// TemplateRef names a TaskTemplate in the same namespace.
type TemplateRef struct {
	// The name of the template.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
}

// TaskSubmissionStatus says where the action stands.
type TaskSubmissionStatus struct {
	// Pending: nothing was begun. Processing: an attempt was begun. Success: the effect happened, once.
	// Failed: it certainly did not happen.
	// +optional
	// +kubebuilder:default=Pending
	Phase Phase `json:"phase,omitempty"`

	// Why it is in this phase, in one word from a closed list.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason Reason `json:"reason,omitempty"`

	// The same for a person, in one sentence, with what can be done where something is awaited.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// How many attempts were begun.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Attempts int32 `json:"attempts,omitempty"`

	// What the effect returned: JSON of at most 16 KiB. A larger one is replaced by a note with its size and digest.
	// +optional
	Result *apiextensionsv1.JSON `json:"result,omitempty"`

	// The digest of the whole result as canonical JSON.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	ResultDigest string `json:"resultDigest,omitempty"`

	// The submission whose result this is, where another one had applied the effect for the same business key.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	DuplicateOf string `json:"duplicateOf,omitempty"`

	// True where the record answered for an earlier submission of this key.
	// +optional
	Replayed bool `json:"replayed,omitempty"`

	// On whose behalf that earlier, or other, one was submitted, where a gateway said so: whose outcome this is.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	OutcomeOnBehalfOf string `json:"outcomeOnBehalfOf,omitempty"`

	// The real-world identity that the effect is unique for, as the template computes it.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	BusinessKey string `json:"businessKey,omitempty"`

	// The TaskRecord that guards the key.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	RecordName string `json:"recordName,omitempty"`

	// When the first attempt was begun.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// When it became Success or Failed.
	// +optional
	CompletedAt *metav1.Time `json:"completedAt,omitempty"`

	// Until when the record answers for this key.
	// +optional
	ExpiresAt *metav1.Time `json:"expiresAt,omitempty"`

	// The generation of the spec that this status speaks of; -1 before the operator has seen it.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Ready, Reconciling, Stalled and Finished, as kstatus and "kubectl wait" read them.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Invalid reports whether it failed for its own input: nothing ran under it, no record was made for it, and its key is not
// used up. Deleting it loses nothing.
func (s *TaskSubmission) Invalid() bool {
	return s.Status.Phase == PhaseFailed && s.Status.Reason.ofInput() && s.Status.Attempts == 0
}

// Key returns the submission's idempotency key: the stated one or else the name.
func (s *TaskSubmission) Key() string {
	if s.Spec.IdempotencyKey != "" {
		return s.Spec.IdempotencyKey
	}
	return s.Name
}

// TaskSubmissionList is a list of submissions.
//
// +kubebuilder:object:root=true
type TaskSubmissionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TaskSubmission `json:"items"`
}
