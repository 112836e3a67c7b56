package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Effect is the side effect: exactly one kind of it.
//
// +kubebuilder:validation:ExactlyOneOf=http;sql;job
type Effect struct {
	// One HTTP request.
	// +optional
	HTTP *HTTPEffect `json:"http,omitempty"`

	// One SQL transaction.
	// +optional
	SQL *SQLEffect `json:"sql,omitempty"`

	// One Job.
	// +optional
	Job *JobEffect `json:"job,omitempty"`
}

// Receiver says what the template's author knows of the receiver.
//
// +kubebuilder:validation:XValidation:rule="!has(self.remembersFor) || (has(self.idempotent) && self.idempotent)",message="remembersFor speaks of an idempotent receiver: set idempotent to true"
type Receiver struct {
	// True: the receiver applies one Idempotency-Key at most once, however often it is sent. Then an unknown
	// outcome is cleared up by sending it again.
	// +optional
	Idempotent bool `json:"idempotent,omitempty"`

	// For how long it remembers keys; after that nothing is sent again. Left out: 24h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('87600h')",message="must be between 1s and 87600h"
	RemembersFor *metav1.Duration `json:"remembersFor,omitempty"`
}

// ClassifyRule turns an answer into an outcome.
type ClassifyRule struct {
	// A boolean expression over response, params, submission and attempt.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	When string `json:"when"`

	// What the answer means then. NotApplied is permanent.
	// +required
	Outcome Outcome `json:"outcome"`
}

// ValueSource says where a value is read from.
type ValueSource struct {
	// A key of a Secret in the same namespace. A missing one is waited for.
	// +required
	SecretKeyRef SecretKeyRef `json:"secretKeyRef"`
}

// SecretKeyRef names one key of a Secret in the same namespace.
type SecretKeyRef struct {
	// The name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// The key inside it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// SecretSource says from which Secret something is read that has more than one key.
type SecretSource struct {
	// A Secret in the same namespace. A missing one is waited for.
	// +required
	SecretRef SecretRef `json:"secretRef"`
}

// SecretRef names a Secret in the same namespace.
type SecretRef struct {
	// The name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}
