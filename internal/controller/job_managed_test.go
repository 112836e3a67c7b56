package controller_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// collected is how long the garbage collector may take: it looks for new kinds every half minute, and the suite
// installs ours after it was started.
const collected = 3 * time.Minute

var _ = Describe("A running operator and its Jobs", func() {
	It("is woken by a Job's end, asks nothing before, and lets it go with its submission", func() {
		w := newManaged()
		j, release := w.newRunningJob()
		w.settled()
		Consistently(w.wire.take).WithTimeout(2 * time.Second).ShouldNot(ContainElement(HavePrefix("PUT")))
		release()
		w.eventually("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Eventually(func() string { return w.job("a-a1").OwnerReferences[0].Kind }).Should(Equal("TaskSubmission"))
		w.remove("a")
		Eventually(func() *batchv1.Job { return w.job("a-a1") }).WithTimeout(collected).Should(BeNil())
		Expect(j.ran()).To(Equal(1))
	})

	It("settles the record of a submission that is deleted while its Job runs on", func() {
		w := newManaged()
		j, release := w.newRunningJob()
		w.remove("a")
		Expect(w.job("a-a1").DeletionTimestamp).To(BeNil())
		release()
		Eventually(func() v1alpha1.Phase { return w.action("a").Phase }).Should(Equal(v1alpha1.PhaseSuccess))
		Eventually(func() *batchv1.Job { return w.job("a-a1") }).WithTimeout(collected).Should(BeNil())
		w.submit("a")
		w.eventually("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(w.status("a").Replayed).To(BeTrue())
		Expect(w.status("a").Result.Raw).To(MatchJSON(well.Message))
		Expect(j.ran()).To(Equal(1))
	})

	It("counts a Job against the limits until it has finished, also after a restart", func() {
		w := newManaged()
		j, release := w.newRunningJob(func(spec *v1alpha1.TaskTemplateSpec) { spec.Limits.MaxInFlight = 1 })
		w.submit("b")
		w.eventually("b", v1alpha1.PhasePending, v1alpha1.ReasonLimitReached)
		w.restart()
		w.submit("c")
		w.eventually("c", v1alpha1.PhasePending, v1alpha1.ReasonLimitReached)
		Expect(w.jobs()).To(ConsistOf("a-a1"))
		release()
		for _, name := range []string{"a", "b", "c"} {
			w.eventually(name, v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		}
		Expect(j.ran()).To(Equal(3))
	})
})

// newRunningJob has submission "a" run a Job that goes on until it is released.
func (w *managed) newRunningJob(edits ...func(*v1alpha1.TaskTemplateSpec)) (j *jobsOf, release func()) {
	GinkgoHelper()
	play, release := untilReleased()
	j = w.newJobs(play, edits...)
	DeferCleanup(release)
	w.submit("a")
	j.awaitPods(1)
	w.eventually("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonInProgress)
	return j, release
}
