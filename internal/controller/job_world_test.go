package controller_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

// jobsOf is what runs the pods of a world's Jobs: the real Job controller, and the harness in place of a kubelet. It
// counts the pods that ran: each of them may have had the effect.
type jobsOf struct {
	*world
	mu   sync.Mutex
	pods []*corev1.Pod
}

// newJobs makes the template "work" of a Job whose n-th pod, counted from 1, ends as play says.
func (w *world) newJobs(play func(ctx context.Context, n int) harness.Exit, edits ...func(*v1alpha1.TaskTemplateSpec)) *jobsOf {
	GinkgoHelper()
	j := &jobsOf{world: w}
	running, cancel := context.WithCancel(ctx)
	DeferCleanup(cancel)
	failed := func(err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.violations = append(w.violations, "playing pods: "+err.Error())
	}
	Expect(plane.PlayPods(running, w.namespace, func(ctx context.Context, pod *corev1.Pod) harness.Exit {
		j.mu.Lock()
		j.pods = append(j.pods, pod)
		n := len(j.pods)
		j.mu.Unlock()
		return play(ctx, n)
	}, failed)).To(Succeed())
	w.template("work", append([]func(*v1alpha1.TaskTemplateSpec){asJob}, edits...)...)
	return j
}

// newRunningJob has submission "a" run a Job that goes on until it is released.
func (w *world) newRunningJob(edits ...func(*v1alpha1.TaskTemplateSpec)) (j *jobsOf, release func()) {
	GinkgoHelper()
	play, release := untilReleased()
	j = w.newJobs(play, edits...)
	DeferCleanup(release)
	w.submit("a")
	w.run("a")
	j.awaitPods(1)
	return j, release
}

func asJob(spec *v1alpha1.TaskTemplateSpec) {
	spec.Effect.HTTP, spec.Effect.Job = nil, &v1alpha1.JobEffect{}
	spec.Effect.Job.Template.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "registry.example/close-order:1", Args: []string{"--order=${params.order}"}}}
}

func listing(codes ...int32) func(*v1alpha1.TaskTemplateSpec) {
	return func(spec *v1alpha1.TaskTemplateSpec) { spec.Effect.Job.NotAppliedExitCodes = codes }
}

func repeatable(spec *v1alpha1.TaskTemplateSpec) { spec.Effect.Job.Receiver.Idempotent = true }

// ends has every pod end in the same way.
func ends(exit harness.Exit) func(context.Context, int) harness.Exit {
	return func(context.Context, int) harness.Exit { return exit }
}

// oneByOne has the pods end one after another as said; there must be no more of them.
func oneByOne(exits ...harness.Exit) func(context.Context, int) harness.Exit {
	return func(_ context.Context, n int) harness.Exit {
		if n > len(exits) {
			return harness.Exit{Code: 99, Message: "one pod too many"}
		}
		return exits[n-1]
	}
}

// untilReleased has every pod run until it is let end well.
func untilReleased() (play func(context.Context, int) harness.Exit, release func()) {
	end := make(chan struct{})
	return func(ctx context.Context, _ int) harness.Exit {
		select {
		case <-end:
		case <-ctx.Done():
		}
		return well
	}, sync.OnceFunc(func() { close(end) })
}

var well = harness.Exit{Message: `{"receipt": "r-7"}`}

// ran is how many pods have run.
func (j *jobsOf) ran() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.pods)
}

// awaitPods waits until so many pods have begun.
func (j *jobsOf) awaitPods(n int) {
	GinkgoHelper()
	Eventually(j.ran).Should(BeNumerically(">=", n))
}

// job returns a Job, or nil.
func (w *world) job(name string) *batchv1.Job {
	GinkgoHelper()
	found := &batchv1.Job{}
	err := admin.Get(ctx, w.named(name), found)
	if apierrors.IsNotFound(err) {
		return nil
	}
	Expect(err).NotTo(HaveOccurred())
	return found
}

// deleteJob deletes a Job, and waits until it is gone.
func (w *world) deleteJob(name string) {
	GinkgoHelper()
	Expect(admin.Delete(ctx, w.job(name), client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
	Eventually(func() *batchv1.Job { return w.job(name) }).Should(BeNil())
}

// jobs returns the names of all Jobs.
func (w *world) jobs() []string {
	GinkgoHelper()
	list := &batchv1.JobList{}
	Expect(admin.List(ctx, list, client.InNamespace(w.namespace))).To(Succeed())
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// afterEnd waits until the Job controller says that a Job has finished, and runs.
func (w *world) afterEnd(number int, name string) {
	GinkgoHelper()
	Eventually(func() bool {
		job := w.job(fmt.Sprintf("%s-a%d", name, number))
		return job != nil && finishedJob(job)
	}).Should(BeTrue(), "no Job finishes, with number %d", number)
	w.after(time.Second, name) // there is a second between two questions
}

func finishedJob(job *batchv1.Job) bool {
	for _, condition := range job.Status.Conditions {
		if condition.Status == corev1.ConditionTrue && (condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed) {
			return true
		}
	}
	return false
}

// throughJobs runs a submission, and on after the end of each of its Jobs, of which there are so many.
func (w *world) throughJobs(name string, n int) {
	GinkgoHelper()
	for number := 1; number <= n; number++ {
		w.finishUntilInProgress(name)
		for range 10 {
			if job := w.job(fmt.Sprintf("%s-a%d", name, number)); job != nil && !ptr.Deref(job.Spec.Suspend, false) {
				break
			}
			w.after(time.Second, name)
		}
		w.afterEnd(number, name)
	}
}

// finishUntilInProgress runs, and steps the clock over back-offs, until a Job runs.
func (w *world) finishUntilInProgress(name string) {
	GinkgoHelper()
	for range 20 {
		result := w.run(name)
		if w.status(name).Reason == v1alpha1.ReasonInProgress {
			return
		}
		w.clock.Step(result.RequeueAfter)
	}
	Fail("no Job of it runs: " + w.status(name).Message)
}

// forbiddenJob is what a quota says.
var forbiddenJob = apierrors.NewForbidden(schema.GroupResource{Group: "batch", Resource: "jobs"}, "a-a1", errors.New("exceeded quota: jobs, requested: 1, used: 10, limited: 10"))

func aJob(object client.Object) bool {
	_, ok := object.(*batchv1.Job)
	return ok
}
