package controller_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

var _ = Describe("An action that is a Job", func() {
	It("runs one pod, once, and keeps its termination message", func() {
		w := newWorld()
		j := w.newJobs(ends(well))
		w.submit("a")
		w.run("a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonInProgress)
		w.afterEnd(1, "a")
		w.expect("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(w.status("a").Result.Raw).To(MatchJSON(well.Message))
		Expect(j.ran()).To(Equal(1))
		Expect(w.jobs()).To(ConsistOf("a-a1"))
		container := j.pods[0].Spec.Containers[0]
		Expect(container.Args).To(Equal([]string{"--order=7"}))
		Expect(container.Env).To(ContainElements(
			corev1.EnvVar{Name: "TASKONCE_KEY", Value: "a"},
			corev1.EnvVar{Name: "TASKONCE_IDEMPOTENCY_KEY", Value: w.namespace + "/a"},
			corev1.EnvVar{Name: "TASKONCE_PARAMETERS", Value: `{"order":"7"}`},
		))
	})

	It("is made suspended, belongs to its record, and is let go on when the record says that it is there", func() {
		w := newWorld()
		j := w.newJobs(ends(well))
		w.faults.before("create", aJob, func() {
			Expect(w.action("a").Attempt.Job).To(Equal(int32(1)))
			Expect(w.action("a").Attempt.Open()).To(BeTrue())
		})
		w.faults.before("patch", aJob, func() {
			made := w.job("a-a1")
			Expect(ptr.Deref(made.Spec.Suspend, false)).To(BeTrue())
			Expect(made.OwnerReferences).To(Equal([]metav1.OwnerReference{{
				APIVersion: "taskonce.dev/v1alpha1", Kind: "TaskRecord", Name: w.record("a").Name, UID: w.record("a").UID, BlockOwnerDeletion: ptr.To(false),
			}}))
			Expect(w.action("a").Attempt.Location).To(Equal("a-a1"))
			Expect(j.ran()).To(BeZero())
		})
		w.submit("a")
		w.throughJobs("a", 1)
		Expect(w.faults.pending()).To(BeZero())
		w.expect("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
	})

	It("waits for a Job of its name that is not its own, and leaves that alone", func() {
		w := newWorld()
		j := w.newJobs(ends(well))
		stranger := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "a-a1", Annotations: map[string]string{"taskonce.dev/record-uid": "another", "taskonce.dev/attempt": "1"}}}
		stranger.Spec.Suspend = ptr.To(true)
		stranger.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "registry.example/other:1"}}}
		Expect(admin.Create(ctx, stranger)).To(Succeed())
		w.submit("a")
		wait := w.run("a").RequeueAfter
		w.expect("a", v1alpha1.PhasePending, v1alpha1.ReasonDependencyMissing)
		Expect(w.status("a").Message).To(ContainSubstring(`a Job "a-a1" is in this namespace that is not this submission's`))
		Expect(w.job("a-a1").Spec.Suspend).To(Equal(ptr.To(true)))
		w.deleteJob("a-a1")
		w.after(wait, "a")
		w.throughJobs("a", 1)
		w.expect("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(j.ran()).To(Equal(1))
	})

	DescribeTable("asks a person when a Job does not say whether it had its effect", func(exit harness.Exit, says string, edits ...func(*v1alpha1.TaskTemplateSpec)) {
		w := newWorld()
		j := w.newJobs(ends(exit), append(edits, listing(3))...)
		w.submit("a")
		w.throughJobs("a", 1)
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
		Expect(w.status("a").Message).To(ContainSubstring(says))
		Expect(w.action("a").Checks).To(BeZero(), "asking again would say nothing new")
		Expect(j.ran()).To(Equal(1))
		Expect(w.jobs()).To(ConsistOf("a-a1"))
	},
		Entry("an exit code that is not listed", harness.Exit{Code: 1}, "exit code 1"),
		Entry("the node was lost, whatever the exit code", harness.Exit{Code: 3, Disrupted: true}, "its pod was disrupted"),
	)

	It("asks a person when its pod was deleted", func() {
		w := newWorld()
		j, _ := w.newRunningJob(listing(3))
		Expect(admin.Delete(ctx, j.pods[0])).To(Succeed())
		w.afterEnd(1, "a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
		Expect(w.status("a").Message).To(ContainSubstring("a pod is gone"))
		Expect(j.ran()).To(Equal(1))
	})

	It("asks a person when activeDeadlineSeconds was over", func() {
		w := newWorld()
		j, _ := w.newRunningJob(listing(3), func(spec *v1alpha1.TaskTemplateSpec) {
			spec.Effect.Job.Template.Spec.ActiveDeadlineSeconds = ptr.To[int64](3600)
		})
		job := w.job("a-a1")
		Expect(job.Spec.ActiveDeadlineSeconds).To(Equal(ptr.To[int64](3600)))
		// Its pod runs by now: before that a deadline that is short enough to be waited for might be over.
		Expect(admin.Patch(ctx, job, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"activeDeadlineSeconds":1}}`)))).To(Succeed())
		w.afterEnd(1, "a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
		Expect(w.status("a").Message).To(ContainSubstring("DeadlineExceeded"))
		Expect(j.ran()).To(Equal(1))
	})

	It("takes the word of the pod that ended well, where the template has another one replace a disrupted pod", func() {
		w := newWorld()
		j := w.newJobs(oneByOne(harness.Exit{Code: 137, Disrupted: true}, well), repeatable, func(spec *v1alpha1.TaskTemplateSpec) {
			spec.Effect.Job.Template.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
			}}}
		})
		w.submit("a")
		w.throughJobs("a", 1)
		w.expect("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(w.status("a").Result.Raw).To(MatchJSON(well.Message))
		Expect(j.ran()).To(Equal(2))
	})

	It("makes another Job where an exit code says that there was no effect", func() {
		w := newWorld()
		j := w.newJobs(oneByOne(harness.Exit{Code: 3}, well), listing(3))
		w.submit("a")
		w.throughJobs("a", 2)
		w.expect("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(w.jobs()).To(ConsistOf("a-a1", "a-a2"))
		Expect(j.ran()).To(Equal(2))
	})

	It("fails when retry is used up by such exit codes", func() {
		w := newWorld()
		j := w.newJobs(ends(harness.Exit{Code: 3}), listing(3), atMost(2))
		w.submit("a")
		w.throughJobs("a", 2)
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonRetriesExhausted)
		Expect(w.status("a").Message).To(ContainSubstring("exit code 3"))
		Expect(j.ran()).To(Equal(2))
	})

	It("runs again what is safe to repeat, as a Job of its own, and a refusal then settles nothing", func() {
		w := newWorld()
		j := w.newJobs(oneByOne(harness.Exit{Code: 1}, harness.Exit{Code: 3}, well), repeatable, listing(3))
		w.submit("a")
		w.finishUntilInProgress("a")
		w.afterEnd(1, "a")
		w.finishUntilInProgress("a")
		w.afterEnd(2, "a")
		Expect(w.action("a").Unsettled).To(BeTrue(), "what became of the first is still not known")
		w.finishUntilInProgress("a")
		w.afterEnd(3, "a")
		w.expect("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(j.ran()).To(Equal(3))
	})

	It("spends no check on a Job that runs longer than stuckAfter, and a template's edit does not disturb it", func() {
		w := newWorld()
		j, release := w.newRunningJob()
		w.after(6*time.Minute, "a")
		w.edit("work", listing(1))
		for range 3 {
			w.after(time.Hour, "a")
			w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonInProgress)
		}
		Expect(w.action("a").Checks).To(BeZero())
		release()
		w.afterEnd(1, "a")
		w.expect("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonVerifiedApplied)
		Expect(j.ran()).To(Equal(1))
	})

	It("is waited for longer than stuckAfter, and not to be confirmed meanwhile, where the template leaves outcomes to a person", func() {
		w := newWorld()
		j, release := w.newRunningJob(byHand)
		w.after(6*time.Minute, "a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonInProgress)
		decision := w.decide(v1alpha1.DecisionConfirmNotApplied, "a")
		w.run("a")
		w.expectDecision(decision, v1alpha1.DecisionRefused)
		release()
		w.afterEnd(1, "a")
		w.expect("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonVerifiedApplied)
		Expect(j.ran()).To(Equal(1))
	})
})
