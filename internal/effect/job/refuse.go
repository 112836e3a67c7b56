package job

import (
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ours begins the names of labels, annotations and variables that are the operator's.
const ours, oursInEnvironment = "taskonce.dev/", "TASKONCE_"

// refuse returns what is wrong with a template: whatever would have its containers run a second time, or would have
// the Job vanish before its outcome is stored.
func refuse(path *field.Path, template *batchv1.JobTemplateSpec, idempotent bool) field.ErrorList {
	faults := refuseMeta(path.Child("metadata"), &template.ObjectMeta)
	faults = append(faults, refuseJob(path.Child("spec"), &template.Spec, idempotent)...)
	pod := path.Child("spec", "template")
	faults = append(faults, refuseMeta(pod.Child("metadata"), &template.Spec.Template.ObjectMeta)...)
	return append(faults, refusePod(pod.Child("spec"), &template.Spec.Template.Spec)...)
}

// refuseMeta leaves the template its labels and annotations.
func refuseMeta(path *field.Path, meta *metav1.ObjectMeta) field.ErrorList {
	var faults field.ErrorList
	forbid := func(name string, set bool) {
		if set {
			faults = append(faults, field.Forbidden(path.Child(name), "the operator sets it: leave it out"))
		}
	}
	forbid("name", meta.Name != "")
	forbid("generateName", meta.GenerateName != "")
	forbid("namespace", meta.Namespace != "")
	forbid("ownerReferences", len(meta.OwnerReferences) > 0)
	forbid("finalizers", len(meta.Finalizers) > 0)
	faults = append(faults, refuseOurs(path.Child("labels"), meta.Labels)...)
	return append(faults, refuseOurs(path.Child("annotations"), meta.Annotations)...)
}

func refuseOurs(path *field.Path, entries map[string]string) field.ErrorList {
	var faults field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if strings.HasPrefix(key, ours) {
			faults = append(faults, field.Forbidden(path.Key(key), "what begins with "+ours+" is the operator's"))
		}
	}
	return faults
}

func refuseJob(path *field.Path, spec *batchv1.JobSpec, idempotent bool) field.ErrorList {
	var faults field.ErrorList
	forbid := func(name string, set bool, why string) {
		if set {
			faults = append(faults, field.Forbidden(path.Child(name), why+": leave it out"))
		}
	}
	exactly := func(name string, value *int32, want int32, why string) {
		if value != nil && *value != want {
			faults = append(faults, field.Invalid(path.Child(name), *value, why))
		}
	}
	exactly("backoffLimit", spec.BackoffLimit, 0, "must be 0: a pod that failed may have had its effect, so none takes its place")
	exactly("parallelism", spec.Parallelism, 1, "must be 1: one action is one pod")
	exactly("completions", spec.Completions, 1, "must be 1: one action is one pod")
	forbid("ttlSecondsAfterFinished", spec.TTLSecondsAfterFinished != nil, "it could remove the Job before its outcome is stored, and the operator removes it with its submission")
	forbid("suspend", spec.Suspend != nil, "the operator makes every Job suspended, and lets it go on when that is stored")
	forbid("completionMode", spec.CompletionMode != nil && *spec.CompletionMode != batchv1.NonIndexedCompletion, "one action is one pod")
	forbid("backoffLimitPerIndex", spec.BackoffLimitPerIndex != nil, "one action is one pod")
	forbid("maxFailedIndexes", spec.MaxFailedIndexes != nil, "one action is one pod")
	forbid("successPolicy", spec.SuccessPolicy != nil, "one action is one pod")
	forbid("selector", spec.Selector != nil, "it could take in pods of others")
	forbid("manualSelector", spec.ManualSelector != nil, "it could take in pods of others")
	forbid("managedBy", spec.ManagedBy != nil && *spec.ManagedBy != batchv1.JobControllerName, "how another controller runs pods is not known")
	return append(faults, refuseIgnored(path.Child("podFailurePolicy", "rules"), spec.PodFailurePolicy, idempotent)...)
}

// refuseIgnored refuses rules that have a failed pod replaced, unless running the containers again is safe.
func refuseIgnored(path *field.Path, policy *batchv1.PodFailurePolicy, idempotent bool) field.ErrorList {
	if policy == nil || idempotent {
		return nil
	}
	var faults field.ErrorList
	for i := range policy.Rules {
		if policy.Rules[i].Action == batchv1.PodFailurePolicyActionIgnore {
			faults = append(faults, field.Invalid(path.Index(i).Child("action"), policy.Rules[i].Action,
				"has another pod take the place of one that may have had its effect: set receiver.idempotent to true where that is safe"))
		}
	}
	return faults
}

func refusePod(path *field.Path, pod *corev1.PodSpec) field.ErrorList {
	var faults field.ErrorList
	if pod.RestartPolicy != "" && pod.RestartPolicy != corev1.RestartPolicyNever {
		faults = append(faults, field.Invalid(path.Child("restartPolicy"), pod.RestartPolicy, "must be Never: a container that failed may have had its effect"))
	}
	if len(pod.Containers) == 0 {
		faults = append(faults, field.Required(path.Child("containers"), "a Job runs at least one container"))
	}
	for i := range pod.Containers {
		faults = append(faults, refuseContainer(path.Child("containers").Index(i), &pod.Containers[i], false)...)
	}
	for i := range pod.InitContainers {
		faults = append(faults, refuseContainer(path.Child("initContainers").Index(i), &pod.InitContainers[i], true)...)
	}
	return faults
}

func refuseContainer(path *field.Path, container *corev1.Container, init bool) field.ErrorList {
	var faults field.ErrorList
	if policy := container.RestartPolicy; policy != nil {
		sidecar := init && *policy == corev1.ContainerRestartPolicyAlways
		if !sidecar && *policy != corev1.ContainerRestartPolicyNever {
			faults = append(faults, field.Invalid(path.Child("restartPolicy"), *policy, "must be Never, but for a sidecar among the initContainers: a container that failed may have had its effect"))
		}
	}
	if len(container.RestartPolicyRules) > 0 {
		faults = append(faults, field.Forbidden(path.Child("restartPolicyRules"), "a container that failed may have had its effect: leave it out"))
	}
	reserved := func(name string) bool {
		return strings.HasPrefix(name, oursInEnvironment) || name == traceVariable
	}
	for i := range container.Env {
		if reserved(container.Env[i].Name) {
			faults = append(faults, field.Forbidden(path.Child("env").Index(i).Child("name"), "the operator sets this variable"))
		}
	}
	return faults
}
