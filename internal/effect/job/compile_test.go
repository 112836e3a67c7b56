package job

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
)

type edit func(*v1alpha1.TaskTemplateSpec)

// spec returns that of a template that compiles, edited.
func spec(edits ...edit) *v1alpha1.TaskTemplateSpec {
	s := &v1alpha1.TaskTemplateSpec{Effect: v1alpha1.Effect{Job: &v1alpha1.JobEffect{}}}
	podOf(s).Containers = []corev1.Container{{Name: "main", Image: "registry.example/close-order:1"}}
	for _, e := range edits {
		e(s)
	}
	return s
}

func jobOf(s *v1alpha1.TaskTemplateSpec) *batchv1.JobSpec { return &s.Effect.Job.Template.Spec }

func podOf(s *v1alpha1.TaskTemplateSpec) *corev1.PodSpec { return &jobOf(s).Template.Spec }

func env(t *testing.T) *expr.Env {
	t.Helper()
	env, err := expr.NewEnv(nil)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func compiled(t *testing.T, options Options, edits ...edit) (effect.Effect, effect.Traits) {
	t.Helper()
	made, traits, faults := New(options)("shop", spec(edits...), env(t))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return made, traits
}

func idempotent(s *v1alpha1.TaskTemplateSpec) { s.Effect.Job.Receiver.Idempotent = true }

// TestWhatWouldRunTwiceIsRefused: each fault is at the field that is wrong, and says what to do.
func TestWhatWouldRunTwiceIsRefused(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	ignore := func(s *v1alpha1.TaskTemplateSpec) {
		jobOf(s).PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{Action: batchv1.PodFailurePolicyActionFailJob}, {Action: batchv1.PodFailurePolicyActionIgnore}}}
	}
	container := func(change func(*corev1.Container)) edit {
		return func(s *v1alpha1.TaskTemplateSpec) { change(&podOf(s).Containers[0]) }
	}
	for _, c := range []struct {
		field, says string
		edit        edit
	}{
		{"spec.effect.job.template.spec.backoffLimit", "must be 0", func(s *v1alpha1.TaskTemplateSpec) { jobOf(s).BackoffLimit = ptr.To[int32](1) }},
		{"spec.effect.job.template.spec.parallelism", "must be 1", func(s *v1alpha1.TaskTemplateSpec) { jobOf(s).Parallelism = ptr.To[int32](2) }},
		{"spec.effect.job.template.spec.parallelism", "must be 1", func(s *v1alpha1.TaskTemplateSpec) { jobOf(s).Parallelism = ptr.To[int32](0) }},
		{"spec.effect.job.template.spec.completions", "must be 1", func(s *v1alpha1.TaskTemplateSpec) { jobOf(s).Completions = ptr.To[int32](2) }},
		{"spec.effect.job.template.spec.ttlSecondsAfterFinished", "the operator removes it", func(s *v1alpha1.TaskTemplateSpec) { jobOf(s).TTLSecondsAfterFinished = ptr.To[int32](60) }},
		{"spec.effect.job.template.spec.suspend", "lets it go on", func(s *v1alpha1.TaskTemplateSpec) { jobOf(s).Suspend = ptr.To(false) }},
		{"spec.effect.job.template.spec.completionMode", "one pod", func(s *v1alpha1.TaskTemplateSpec) { jobOf(s).CompletionMode = ptr.To(batchv1.IndexedCompletion) }},
		{"spec.effect.job.template.spec.backoffLimitPerIndex", "one pod", func(s *v1alpha1.TaskTemplateSpec) { jobOf(s).BackoffLimitPerIndex = ptr.To[int32](1) }},
		{"spec.effect.job.template.spec.maxFailedIndexes", "one pod", func(s *v1alpha1.TaskTemplateSpec) { jobOf(s).MaxFailedIndexes = ptr.To[int32](1) }},
		{"spec.effect.job.template.spec.successPolicy", "one pod", func(s *v1alpha1.TaskTemplateSpec) { jobOf(s).SuccessPolicy = &batchv1.SuccessPolicy{} }},
		{"spec.effect.job.template.spec.selector", "pods of others", func(s *v1alpha1.TaskTemplateSpec) { jobOf(s).Selector = &metav1.LabelSelector{} }},
		{"spec.effect.job.template.spec.manualSelector", "pods of others", func(s *v1alpha1.TaskTemplateSpec) { jobOf(s).ManualSelector = ptr.To(true) }},
		{"spec.effect.job.template.spec.managedBy", "another controller", func(s *v1alpha1.TaskTemplateSpec) { jobOf(s).ManagedBy = ptr.To("example.com/other") }},
		{"spec.effect.job.template.spec.podFailurePolicy.rules[1].action", "receiver.idempotent", ignore},
		{"spec.effect.job.template.spec.template.spec.restartPolicy", "must be Never", func(s *v1alpha1.TaskTemplateSpec) { podOf(s).RestartPolicy = corev1.RestartPolicyOnFailure }},
		{"spec.effect.job.template.spec.template.spec.containers", "at least one", func(s *v1alpha1.TaskTemplateSpec) { podOf(s).Containers = nil }},
		{"spec.effect.job.template.spec.template.spec.containers[0].restartPolicy", "must be Never", container(func(c *corev1.Container) { c.RestartPolicy = &always })},
		{"spec.effect.job.template.spec.template.spec.containers[0].restartPolicyRules", "leave it out", container(func(c *corev1.Container) { c.RestartPolicyRules = make([]corev1.ContainerRestartRule, 1) })},
		{"spec.effect.job.template.spec.template.spec.containers[0].env[0].name", "the operator sets", container(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "TASKONCE_KEY"}} })},
		{"spec.effect.job.template.spec.template.spec.containers[0].env[0].name", "the operator sets", container(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "TRACEPARENT"}} })},
		{"spec.effect.job.template.metadata.name", "the operator sets it", func(s *v1alpha1.TaskTemplateSpec) { s.Effect.Job.Template.Name = "x" }},
		{"spec.effect.job.template.metadata.finalizers", "the operator sets it", func(s *v1alpha1.TaskTemplateSpec) { s.Effect.Job.Template.Finalizers = []string{"a/b"} }},
		{"spec.effect.job.template.spec.template.metadata.labels[taskonce.dev/submission]", "operator's", func(s *v1alpha1.TaskTemplateSpec) {
			jobOf(s).Template.Labels = map[string]string{v1alpha1.LabelSubmission: "x"}
		}},
		{"spec.effect.job.notAppliedExitCodes[1]", "from 1 to 127", func(s *v1alpha1.TaskTemplateSpec) { s.Effect.Job.NotAppliedExitCodes = []int32{3, 137} }},
		{"spec.verification", "leave this out", func(s *v1alpha1.TaskTemplateSpec) { s.Verification = &v1alpha1.Verification{} }},
		{"spec.effect.job.template.spec.template.spec.containers[0].image", "command, args and the value of env", container(func(c *corev1.Container) { c.Image = "${params.image}" })},
		{"spec.effect.job.template.spec.template.spec.serviceAccountName", "command, args and the value of env", func(s *v1alpha1.TaskTemplateSpec) { podOf(s).ServiceAccountName = "${params.who}" }},
		{"spec.effect.job.template.spec.template.spec.containers[0].args[1]", "a shell's own", container(func(c *corev1.Container) { c.Args = []string{"-c", "echo ${HOME}"} })},
	} {
		t.Run(strings.TrimPrefix(c.field, "spec.effect.job.template."), func(t *testing.T) {
			made, _, faults := New(Options{})("shop", spec(c.edit), env(t))
			if made != nil || len(faults) != 1 || faults[0].Field != c.field || !strings.Contains(faults[0].Error(), c.says) {
				t.Errorf("faults %v, want one at %s that says %q", faults, c.field, c.says)
			}
		})
	}
	compiled(t, Options{}, ignore, idempotent) // what is safe to repeat may have another pod
}

func TestWhatATemplateMaySay(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	compiled(t, Options{}, func(s *v1alpha1.TaskTemplateSpec) {
		jobOf(s).BackoffLimit, jobOf(s).Parallelism, jobOf(s).Completions = ptr.To[int32](0), ptr.To[int32](1), ptr.To[int32](1)
		jobOf(s).ActiveDeadlineSeconds = ptr.To[int64](60)
		podOf(s).RestartPolicy = corev1.RestartPolicyNever
		podOf(s).InitContainers = []corev1.Container{{Name: "proxy", Image: "registry.example/proxy:1", RestartPolicy: &always}}
		s.Effect.Job.Template.Labels = map[string]string{"team": "orders"}
	})
}

func TestTraits(t *testing.T) {
	_, once := compiled(t, Options{})
	if !once.Detached || !once.Verifies || once.ReplaySafe || once.SettleAfter != 0 {
		t.Errorf("not idempotent: %+v", once)
	}
	_, again := compiled(t, Options{}, idempotent, func(s *v1alpha1.TaskTemplateSpec) {
		s.Effect.Job.Receiver.RemembersFor = &metav1.Duration{Duration: time.Hour}
	})
	if !again.ReplaySafe || again.RemembersFor != time.Hour {
		t.Errorf("idempotent: %+v", again)
	}
}

func attempt() effect.Attempt {
	return effect.Attempt{
		Namespace: "shop", Name: "close-42", Key: "close-42", DownstreamKey: "shop/close-42", BusinessKey: "42", Number: 3, Job: 2,
		Record: "the-uid", Template: "close-order", Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		Parameters: json.RawMessage(`{"id":"42","note":"$(PASSWORD) costs $5"}`), Deadline: time.Now().Add(time.Minute),
	}
}

func built(t *testing.T, edits ...edit) *batchv1.Job {
	t.Helper()
	made, _ := compiled(t, Options{}, edits...)
	job, err := made.(*run).build(attempt())
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func TestTheJobOfAnAttempt(t *testing.T) {
	job := built(t, func(s *v1alpha1.TaskTemplateSpec) {
		podOf(s).Containers = append(podOf(s).Containers, corev1.Container{Name: "second", Image: "registry.example/second:1"})
		podOf(s).InitContainers = []corev1.Container{{Name: "first", Image: "registry.example/first:1"}}
		podOf(s).ServiceAccountName = "orders"
		jobOf(s).Template.Annotations = map[string]string{annotationDefault: "second"}
		jobOf(s).Template.Labels = map[string]string{"team": "orders"}
		s.Effect.Job.NotAppliedExitCodes = []int32{3, 4}
	})
	if job.Name != "close-42-a2" || job.Namespace != "shop" || !*job.Spec.Suspend || *job.Spec.BackoffLimit != 0 ||
		*job.Spec.Completions != 1 || *job.Spec.Parallelism != 1 || job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("the Job is %+v", job)
	}
	if pod := job.Spec.Template; pod.Labels["team"] != "orders" || pod.Labels[v1alpha1.LabelSubmission] != "close-42" || pod.Spec.ServiceAccountName != "orders" {
		t.Errorf("the pod is %+v", pod)
	}
	if !isOf(job, attempt()) || job.Annotations[annotationMain] != "second" || job.Annotations[annotationExitCodes] != "3,4" {
		t.Errorf("it carries %v", job.Annotations)
	}
	for _, containers := range [][]corev1.Container{job.Spec.Template.Spec.InitContainers, job.Spec.Template.Spec.Containers} {
		for _, c := range containers {
			for _, want := range []corev1.EnvVar{
				{Name: "TASKONCE_KEY", Value: "close-42"}, {Name: "TASKONCE_IDEMPOTENCY_KEY", Value: "shop/close-42"}, {Name: "TASKONCE_BUSINESS_KEY", Value: "42"},
				{Name: "TASKONCE_ATTEMPT", Value: "2"}, {Name: "TRACEPARENT", Value: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
				{Name: "TASKONCE_PARAMETERS", Value: `{"id":"42","note":"$$(PASSWORD) costs $$5"}`},
			} {
				if !slices.Contains(c.Env, want) {
					t.Errorf("%s lacks %v in %v", c.Name, want, c.Env)
				}
			}
		}
	}
}

// TestASubmissionNamesNoVariables: Kubernetes expands $(NAME), and a submission's value must not reach a Secret by that.
func TestASubmissionNamesNoVariables(t *testing.T) {
	container := built(t, func(s *v1alpha1.TaskTemplateSpec) {
		c := &podOf(s).Containers[0]
		c.Command = []string{"close", "$(PASSWORD)"}
		c.Args = []string{"--note=${params.note}", "$${HOME}"}
		c.Env = []corev1.EnvVar{{Name: "NOTE", Value: "$(TASKONCE_KEY): ${params.note}"}}
	}).Spec.Template.Spec.Containers[0]
	if want := []string{"close", "$(PASSWORD)"}; !slices.Equal(container.Command, want) {
		t.Errorf("command %q, want the template's own words: %q", container.Command, want)
	}
	if want := []string{"--note=$$(PASSWORD) costs $$5", "${HOME}"}; !slices.Equal(container.Args, want) {
		t.Errorf("args %q, want %q", container.Args, want)
	}
	if got, want := container.Env[len(container.Env)-1].Value, "$(TASKONCE_KEY): $$(PASSWORD) costs $$5"; got != want {
		t.Errorf("env %q, want %q", got, want)
	}
}

func TestWhatNoContainerCanBeStartedWith(t *testing.T) {
	made, _ := compiled(t, Options{}, func(s *v1alpha1.TaskTemplateSpec) { podOf(s).Containers[0].Args = []string{"${params.a}"} })
	for _, parameters := range []string{`{"a":"` + strings.Repeat("x", maxValue) + `"}`, `{"a":"\u0000"}`, `{}`, `[`} {
		a := attempt()
		a.Parameters = json.RawMessage(parameters)
		outcome, err := made.Execute(t.Context(), a)
		if err != nil || outcome.Kind != v1alpha1.OutcomeNotApplied || !outcome.Permanent || !strings.Contains(outcome.Message, "the Job cannot be made") {
			t.Errorf("%.20s…: %+v, %v", parameters, outcome, err)
		}
	}
}
