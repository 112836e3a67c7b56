package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
//
// +kubebuilder:validation:XValidation:rule="!has(self.distinctFromSubmitter) || !self.distinctFromSubmitter || (has(self.required) && self.required)",message="distinctFromSubmitter speaks of an approval that is not asked for: set required to true"
type Approval struct {
	// True: nothing happens before a TaskDecision with the action Approve.
	// +optional
	Required bool `json:"required,omitempty"`

	// True: who submitted it cannot approve it.
	// +optional
	DistinctFromSubmitter bool `json:"distinctFromSubmitter,omitempty"`
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

// Retention says how long finished submissions are kept, and how long records answer for keys whose submissions are
// gone. What is not decided is never removed.
type Retention struct {
	// How long a submission is kept after it succeeded. Applied again later, it gets the first result.
	// +optional
	// +kubebuilder:default="24h"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('87600h')",message="must be between 1s and 87600h"
	SubmissionTTL metav1.Duration `json:"submissionTTL,omitempty,omitzero"`

	// How long a submission is kept after it failed, for people to see why.
	// +optional
	// +kubebuilder:default="168h"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('87600h')",message="must be between 1s and 87600h"
	FailedTTL metav1.Duration `json:"failedTTL,omitempty,omitzero"`

	// How long a record is kept after its submission finished; longer while that exists, or comes back.
	// +optional
	// +kubebuilder:default="720h"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('87600h')",message="must be between 1s and 87600h"
	RecordTTL metav1.Duration `json:"recordTTL,omitempty,omitzero"`

	// Expire: records go when recordTTL is over. Keep: they stay. Submissions go in either case.
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
