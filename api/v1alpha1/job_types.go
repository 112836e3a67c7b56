package v1alpha1

import (
	batchv1 "k8s.io/api/batch/v1"
)

// JobEffect runs one pod to its end, as a Job in the submission's namespace. Key, parameters and trace are in the
// environment of its containers.
type JobEffect struct {
	// The Job. The strings of command and args, and the values of env, may hold expressions; no other field may.
	// It runs one pod, once: restartPolicy is Never, backoffLimit 0, completions and parallelism 1.
	// +required
	Template batchv1.JobTemplateSpec `json:"template"`

	// What is known of what the containers do. Idempotent: running them again under the same key is safe.
	// +optional
	// +kubebuilder:default={}
	Receiver Receiver `json:"receiver,omitempty"`

	// The exit codes by which the main container says that it certainly had no effect. Then another Job is made, as
	// often as retry allows. Every other failure is an unknown outcome. Codes above 127 speak of a signal.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=127
	NotAppliedExitCodes []int32 `json:"notAppliedExitCodes,omitempty"`
}
