package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TaskTemplate says what an action does (effect), how to find out whether it happened (verification), and how
// careful to be (policies). Strings may hold CEL expressions in ${…}; a literal one is written $${.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ttpl,categories=taskonce
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Suspended",type=boolean,JSONPath=`.spec.suspend`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a template's name is a DNS label of at most 63 characters, so that submissions can refer to it"
type TaskTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What the action does, and the policies around it.
	// +required
	Spec TaskTemplateSpec `json:"spec"`

	// Whether it compiles.
	// +optional
	Status TaskTemplateStatus `json:"status,omitempty"`
}

// TaskTemplateSpec describes a kind of action.
//
// +kubebuilder:validation:XValidation:rule=`(has(self.idempotencyKey) ? self.idempotencyKey : "") == (has(oldSelf.idempotencyKey) ? oldSelf.idempotencyKey : "")`,message="idempotencyKey cannot be changed: actions that were done would get new keys and be done again; make a new template"
// +kubebuilder:validation:XValidation:rule=`(has(self.businessKey) ? self.businessKey : "") == (has(oldSelf.businessKey) ? oldSelf.businessKey : "")`,message="businessKey cannot be changed: what was claimed under the old one would be done again; make a new template"
// +kubebuilder:validation:XValidation:rule="!has(self.onBusinessKeyConflict) || self.onBusinessKeyConflict != 'Fail' || has(self.businessKey)",message="onBusinessKeyConflict speaks of a business key, and the template has none: set businessKey"
type TaskTemplateSpec struct {
	// What parameters a submission must have: a structural OpenAPI v3 schema. Left out, any object is allowed.
	// +optional
	ParametersSchema *ParametersSchema `json:"parametersSchema,omitempty"`

	// The idempotency key that a client must use, as an expression over params. A submission with another key
	// fails with KeyMismatch. Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	IdempotencyKey string `json:"idempotencyKey,omitempty"`

	// The real-world identity that the effect must be unique for, whatever the idempotency keys: an expression over
	// params. Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	BusinessKey string `json:"businessKey,omitempty"`

	// What a second submission with the same business key gets: the first one's result, or a failure.
	// +optional
	// +kubebuilder:default=ReturnFirst
	OnBusinessKeyConflict BusinessKeyConflictPolicy `json:"onBusinessKeyConflict,omitempty"`

	// Who may submit, and read submissions, through the gateway: a CEL expression over claims and params. The API server
	// does not ask it.
	// ---
	// Such as claims.sub == params.studentId. Left out, everybody whose token the gateway accepts may submit, and read
	// what was submitted for them.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Access string `json:"access,omitempty"`

	// Whether a person must agree before anything happens.
	// +optional
	Approval *Approval `json:"approval,omitempty"`

	// The side effect.
	// +required
	Effect Effect `json:"effect"`

	// How to find out whether an attempt with an unknown outcome had its effect. Left out, a person decides,
	// unless the effect is safe to repeat.
	// +optional
	Verification *Verification `json:"verification,omitempty"`

	// When to try again. It governs attempts that certainly had no effect, and no others.
	// +optional
	// +kubebuilder:default={}
	Retry Retry `json:"retry,omitempty"`

	// How hard to try to find out what became of an attempt.
	// +optional
	// +kubebuilder:default={}
	Recovery Recovery `json:"recovery,omitempty"`

	// How long records answer.
	// +optional
	// +kubebuilder:default={}
	Retention Retention `json:"retention,omitempty"`

	// How much may happen at once, in each operator process.
	// +optional
	// +kubebuilder:default={}
	Limits Limits `json:"limits,omitempty"`

	// True: nothing new begins. What has begun goes on.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// ParametersSchema holds a schema in Kubernetes' structural dialect, without defaults.
type ParametersSchema struct {
	// The schema of the parameters, of type object.
	// +required
	OpenAPIV3Schema apiextensionsv1.JSON `json:"openAPIV3Schema"`
}

// Verification finds out what became of an attempt, without causing it.
type Verification struct {
	// The request that asks.
	// +required
	HTTP HTTPRequest `json:"http"`

	// What answers mean: the first rule whose expression is true decides. An answer that no rule names cannot tell.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Classify []ClassifyRule `json:"classify"`

	// The result, where the answer means Applied.
	// +optional
	// +kubebuilder:default="${response.body}"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Result string `json:"result,omitempty"`

	// How long after an attempt's time-out the receiver may still apply it. "It did not happen" is believed only
	// when asked after that. The promise is as good as this figure.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s') && duration(self) <= duration('24h')",message="must be between 0s and 24h"
	SettleAfter metav1.Duration `json:"settleAfter,omitempty,omitzero"`
}

// TaskTemplateStatus says whether the template can be used.
type TaskTemplateStatus struct {
	// Ready: it compiles. Otherwise the message names the field that is wrong.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// The generation that the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// The digest of effect and verification, which an Approve names as its templateDigest.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	EffectDigest string `json:"effectDigest,omitempty"`
}

// TaskTemplateList is a list of templates.
//
// +kubebuilder:object:root=true
type TaskTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TaskTemplate `json:"items"`
}
