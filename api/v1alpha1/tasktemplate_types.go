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

	// The real-world identity that the effect must be unique for, as an expression over params, whatever the
	// idempotency keys of those who submit it. Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	BusinessKey string `json:"businessKey,omitempty"`

	// What a second submission with the same business key gets: the first one's result, or a failure.
	// +optional
	// +kubebuilder:default=ReturnFirst
	OnBusinessKeyConflict BusinessKeyConflictPolicy `json:"onBusinessKeyConflict,omitempty"`

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

// BusinessKeyConflictPolicy says what a second submission of one business key gets.
// +kubebuilder:validation:Enum=ReturnFirst;Fail
type BusinessKeyConflictPolicy string

const (
	// ReturnFirst gives the first one's result: Success with the reason AlreadyApplied.
	ReturnFirst BusinessKeyConflictPolicy = "ReturnFirst"
	// FailConflict fails with the reason BusinessKeyConflict.
	FailConflict BusinessKeyConflictPolicy = "Fail"
)

// Approval says who must agree.
type Approval struct {
	// True: nothing happens before a TaskDecision with the action Approve.
	// +optional
	Required bool `json:"required,omitempty"`

	// True: who submitted it cannot approve it.
	// +optional
	DistinctFromSubmitter bool `json:"distinctFromSubmitter,omitempty"`
}

// Effect is the side effect: exactly one kind of it.
//
// +kubebuilder:validation:ExactlyOneOf=http
type Effect struct {
	// One HTTP request.
	// +optional
	HTTP *HTTPEffect `json:"http,omitempty"`
}

// HTTPEffect is one HTTP request. It carries the header Idempotency-Key, the same on every attempt.
type HTTPEffect struct {
	HTTPRequest `json:",inline"`

	// What is known of the receiver. It decides whether an unknown outcome may be tried again.
	// +optional
	// +kubebuilder:default={}
	Receiver Receiver `json:"receiver,omitempty"`

	// What answers mean, where the default is not right: the first rule whose expression is true decides.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	Classify []ClassifyRule `json:"classify,omitempty"`

	// The result, from response.status, response.headers and response.body.
	// +optional
	// +kubebuilder:default="${response.body}"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Result string `json:"result,omitempty"`
}

// HTTPRequest describes a request. Every string may hold expressions; scheme, host and user of the URL may not.
type HTTPRequest struct {
	// The method.
	// +optional
	// +kubebuilder:validation:Enum=GET;POST;PUT;PATCH;DELETE
	Method string `json:"method,omitempty"`

	// The address, http or https. The value of each expression is percent-encoded.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^https?://[^/?#$@]+([/?#].*)?$`
	URL string `json:"url"`

	// Headers beside those that the operator sets itself.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Headers []HTTPHeader `json:"headers,omitempty"`

	// The body: any JSON, whose strings may hold expressions. Left out, an effect sends the parameters as JSON.
	// +optional
	Body *apiextensionsv1.JSON `json:"body,omitempty"`

	// How long an attempt may take, from its begin to the end of the answer: 100ms to 10m.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('100ms') && duration(self) <= duration('10m')",message="must be between 100ms and 10m"
	Timeout metav1.Duration `json:"timeout,omitempty,omitzero"`
}

// HTTPHeader is one header: exactly one of value and valueFrom.
//
// +kubebuilder:validation:ExactlyOneOf=value;valueFrom
type HTTPHeader struct {
	// The name. Idempotency-Key, Taskonce-Attempt, Traceparent, Host, and the headers that frame a message are the operator's.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern="^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"
	// +kubebuilder:validation:XValidation:rule="!(self.lowerAscii() in ['idempotency-key','taskonce-attempt','traceparent','host','content-length','transfer-encoding','connection','upgrade','trailer','te'])",message="this header is set by the operator"
	Name string `json:"name"`

	// The value; it may hold expressions.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value *string `json:"value,omitempty"`

	// Where the value is read from, at the time of use.
	// +optional
	ValueFrom *ValueSource `json:"valueFrom,omitempty"`
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

// Retry governs attempts that certainly had no effect.
//
// +kubebuilder:validation:XValidation:rule="!has(self.initialDelay) || !has(self.maxDelay) || duration(self.initialDelay) <= duration(self.maxDelay)",message="initialDelay must not be longer than maxDelay"
type Retry struct {
	// After so many attempts without effect the submission fails with RetriesExhausted.
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxAttempts int32 `json:"maxAttempts,omitempty"`

	// The wait before the second attempt; it doubles each time, with jitter.
	// +optional
	// +kubebuilder:default="1s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10ms') && duration(self) <= duration('24h')",message="must be between 10ms and 24h"
	InitialDelay metav1.Duration `json:"initialDelay,omitempty,omitzero"`

	// The longest wait between attempts.
	// +optional
	// +kubebuilder:default="5m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10ms') && duration(self) <= duration('24h')",message="must be between 10ms and 24h"
	MaxDelay metav1.Duration `json:"maxDelay,omitempty,omitzero"`
}

// RecoveryMode says who clears up an unknown outcome.
// +kubebuilder:validation:Enum=Auto;Manual
type RecoveryMode string

const (
	// RecoveryAuto verifies, and repeats what is safe to repeat.
	RecoveryAuto RecoveryMode = "Auto"
	// RecoveryManual asks a person, always.
	RecoveryManual RecoveryMode = "Manual"
)

// Recovery governs attempts whose outcome is unknown.
type Recovery struct {
	// Auto: verification, or a repeat that is safe. Manual: a person decides.
	// +optional
	// +kubebuilder:default=Auto
	Mode RecoveryMode `json:"mode,omitempty"`

	// How long a receiver that took the action on may stay unfinished before it is verified.
	// +optional
	// +kubebuilder:default="5m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('168h')",message="must be between 1s and 168h"
	StuckAfter metav1.Duration `json:"stuckAfter,omitempty,omitzero"`

	// After so many checks that could not tell, a person is asked.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxChecks int32 `json:"maxChecks,omitempty"`
}

// RetentionPolicy says whether records are ever removed.
// +kubebuilder:validation:Enum=Expire;Keep
type RetentionPolicy string

const (
	// RetentionExpire removes a record when its time is over and no submission of its name exists.
	RetentionExpire RetentionPolicy = "Expire"
	// RetentionKeep keeps records for ever.
	RetentionKeep RetentionPolicy = "Keep"
)

// Retention says how long records answer for keys whose submissions are gone.
type Retention struct {
	// How long a record is kept after its submission finished.
	// +optional
	// +kubebuilder:default="720h"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('87600h')",message="must be between 1s and 87600h"
	RecordTTL metav1.Duration `json:"recordTTL,omitempty,omitzero"`

	// Expire: records go when recordTTL is over. Keep: they stay.
	// +optional
	// +kubebuilder:default=Expire
	Policy RetentionPolicy `json:"policy,omitempty"`
}

// Limits bounds what one operator process does at once for this template.
type Limits struct {
	// How many attempts may run at once.
	// +optional
	// +kubebuilder:default=32
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	MaxInFlight int32 `json:"maxInFlight,omitempty"`

	// How many attempts may begin in a second. Left out: any number.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	PerSecond *int32 `json:"perSecond,omitempty"`
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
