package job

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// What a Job carries of its attempt. What is needed to read its outcome is in it too: the template may be edited while
// it runs.
const (
	annotationRecord    = ours + "record-uid"
	annotationAttempt   = ours + "attempt"
	annotationMain      = ours + "main-container"
	annotationExitCodes = ours + "not-applied-exit-codes"
	// annotationLetGo says that the operator let it go on. Who suspends it after that has to let it go on himself.
	annotationLetGo = ours + "let-go"

	// annotationDefault is kubectl's, for the container that is meant when none is named.
	annotationDefault = "kubectl.kubernetes.io/default-container"

	traceVariable = "TRACEPARENT"
)

// nameOf is the name of an attempt's Job. A submission's name leaves room for it in a label.
func nameOf(attempt effect.Attempt) string { return fmt.Sprintf("%s-a%d", attempt.Name, attempt.Job) }

// isOf reports whether a Job is that of an attempt: it carries the record's UID and the number in its name.
func isOf(job *batchv1.Job, attempt effect.Attempt) bool {
	return attempt.Record != "" && job.Annotations[annotationRecord] == string(attempt.Record) &&
		job.Annotations[annotationAttempt] == strconv.Itoa(int(attempt.Job))
}

// complete says for the whole Job what a template may leave out.
func complete(template *batchv1.JobTemplateSpec) {
	template.Spec.BackoffLimit, template.Spec.Parallelism, template.Spec.Completions = ptr.To[int32](0), ptr.To[int32](1), ptr.To[int32](1)
	template.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	template.Spec.Suspend = ptr.To(true)
}

// mainContainer is the one that says how it went: kubectl's default container, or the first.
func mainContainer(template *batchv1.JobTemplateSpec) string {
	pod := &template.Spec.Template
	named := func(c corev1.Container) bool { return c.Name == pod.Annotations[annotationDefault] }
	if slices.ContainsFunc(pod.Spec.Containers, named) {
		return pod.Annotations[annotationDefault]
	}
	return pod.Spec.Containers[0].Name
}

// build makes the Job of an attempt. An error says which value of the submission cannot be in it.
func (r *run) build(attempt effect.Attempt) (*batchv1.Job, error) {
	in, err := attempt.Input()
	if err != nil {
		return nil, fmt.Errorf("the parameters: %w", err)
	}
	template := r.template.DeepCopy()
	pod := &template.Spec.Template.Spec
	if err := r.fill(pod, in); err != nil {
		return nil, err
	}
	variables := environment(attempt)
	for _, variable := range variables {
		if err := startable(variable.Value); err != nil {
			return nil, fmt.Errorf("the variable %s %w", variable.Name, err)
		}
	}
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			containers[i].Env = slices.Concat(variables, containers[i].Env)
		}
	}
	job := &batchv1.Job{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	r.mark(job, attempt)
	return job, nil
}

// environment is what every container is told. It comes first, so that the template's own variables may refer to it.
func environment(attempt effect.Attempt) []corev1.EnvVar {
	variables := []corev1.EnvVar{
		{Name: oursInEnvironment + "KEY", Value: literal(attempt.Key)},
		{Name: oursInEnvironment + "IDEMPOTENCY_KEY", Value: literal(attempt.DownstreamKey)},
		{Name: oursInEnvironment + "ATTEMPT", Value: strconv.Itoa(int(attempt.Job))},
		{Name: oursInEnvironment + "PARAMETERS", Value: literal(string(attempt.Parameters))},
	}
	if attempt.BusinessKey != "" {
		variables = append(variables, corev1.EnvVar{Name: oursInEnvironment + "BUSINESS_KEY", Value: literal(attempt.BusinessKey)})
	}
	if attempt.Traceparent != "" {
		variables = append(variables, corev1.EnvVar{Name: traceVariable, Value: literal(attempt.Traceparent)})
	}
	return variables
}

// mark gives a Job its name, its owner, and what it carries of its attempt.
func (r *run) mark(job *batchv1.Job, attempt effect.Attempt) {
	job.Namespace, job.Name = attempt.Namespace, nameOf(attempt)
	job.OwnerReferences = []metav1.OwnerReference{owner("TaskRecord", v1alpha1.RecordName(attempt.Key), attempt.Record)}
	labels := map[string]string{v1alpha1.LabelSubmission: attempt.Name, v1alpha1.LabelTemplate: attempt.Template}
	job.Labels = with(job.Labels, labels)
	job.Spec.Template.Labels = with(job.Spec.Template.Labels, labels)
	job.Annotations = with(job.Annotations, map[string]string{
		annotationRecord: string(attempt.Record), annotationAttempt: strconv.Itoa(int(attempt.Job)),
		annotationMain: r.main, annotationExitCodes: join(r.exitCodes),
	})
}

// with returns a map with more in it.
func with(entries, more map[string]string) map[string]string {
	if entries == nil {
		entries = map[string]string{}
	}
	maps.Copy(entries, more)
	return entries
}

func join(codes []int32) string {
	texts := make([]string, len(codes))
	for i, code := range codes {
		texts[i] = strconv.Itoa(int(code))
	}
	return strings.Join(texts, ",")
}
