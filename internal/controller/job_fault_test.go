package controller_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

// orphaned is longer than another process's attempt is waited for.
const orphaned = time.Minute

var _ = Describe("A Job that something happens to (hazard 14)", func() {
	It("is made once where the operator is killed between begin and create, however late the create arrives", func() {
		w := newWorld()
		j := w.newJobs(ends(well))
		begun, held, arrived := make(chan struct{}), make(chan struct{}), make(chan error)
		w.faults.on("create", aJob, 1, func(object client.Object, send func(client.Object) error) error {
			object = object.DeepCopyObject().(client.Object)
			close(begun)
			<-held
			arrived <- send(object)
			return errConnection
		})
		w.submit("a")
		_, err := w.pass("a")
		Expect(err).NotTo(HaveOccurred())
		Eventually(begun).Should(BeClosed())
		w.replaceProcess()
		w.run("a")
		w.after(orphaned, "a")
		w.finishUntilInProgress("a")
		Expect(w.action("a").Attempt.Number).To(Equal(int32(2)))
		close(held)
		Eventually(arrived).Should(Receive(MatchError(ContainSubstring("already exists"))))
		w.afterEnd(1, "a")
		w.expect("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(w.jobs()).To(ConsistOf("a-a1"))
		Expect(j.ran()).To(Equal(1))
	})

	It("is found where the operator is killed between create and conclude, and has not run before", func() {
		w := newWorld()
		j := w.newJobs(ends(well))
		made, held := make(chan struct{}), make(chan struct{})
		DeferCleanup(func() { close(held) })
		w.faults.on("create", aJob, 1, func(object client.Object, send func(client.Object) error) error {
			err := send(object)
			close(made)
			<-held
			return err
		})
		w.submit("a")
		_, err := w.pass("a")
		Expect(err).NotTo(HaveOccurred())
		Eventually(made).Should(BeClosed())
		w.replaceProcess()
		w.run("a")
		Expect(w.job("a-a1").Spec.Suspend).To(Equal(ptr.To(true)))
		w.after(orphaned, "a")
		w.afterEnd(1, "a")
		w.expect("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(w.status("a").Attempts).To(Equal(int32(1)))
		Expect(j.ran()).To(Equal(1))
	})

	DescribeTable("runs once", func(attempts int, disturb func(*faults)) {
		w := newWorld()
		j := w.newJobs(ends(well))
		disturb(w.faults)
		w.submit("a")
		w.throughJobs("a", 1)
		w.expect("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(w.faults.pending()).To(BeZero())
		Expect(w.status("a").Attempts).To(BeEquivalentTo(attempts))
		Expect(w.jobs()).To(ConsistOf("a-a1"))
		Expect(j.ran()).To(Equal(1))
	},
		Entry("when the answer to its create is lost", 1, func(f *faults) { f.lose("create", aJob) }),
		Entry("when its create is lost", 2, func(f *faults) { f.refuse("create", aJob, 1, errConnection) }),
		Entry("when the answer to letting it go on is lost", 1, func(f *faults) { f.lose("patch", aJob) }),
		Entry("when it cannot be let go on for a while", 1, func(f *faults) { f.refuse("patch", aJob, 3, errConnection) }),
		Entry("when the record that it is there is stored late", 1, func(f *faults) { f.refuse("update", records, 2, errConnection) }),
	)

	It("never runs when a create of -a1 arrives after -a2, although -a1 was deleted", func() {
		w := newWorld()
		j := w.newJobs(oneByOne(harness.Exit{Code: 3}, well), listing(3))
		var late client.Object
		w.faults.on("create", aJob, 1, func(object client.Object, send func(client.Object) error) error {
			late = object.DeepCopyObject().(client.Object)
			return send(object)
		})
		w.submit("a")
		w.finishUntilInProgress("a")
		w.afterEnd(1, "a")
		w.finishUntilInProgress("a")
		w.deleteJob("a-a1")
		Expect(admin.Create(ctx, late)).To(Succeed())
		w.afterEnd(2, "a")
		w.expect("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Eventually(func() []batchv1.JobCondition { return w.job("a-a1").Status.Conditions }).ShouldNot(BeEmpty(), "the Job controller has not seen it")
		Expect(w.job("a-a1").Spec.Suspend).To(Equal(ptr.To(true)))
		Expect(j.ran()).To(Equal(2))
	})

	It("is not made again when somebody deletes it: a person is asked", func() {
		w := newWorld()
		w.newRunningJob()
		w.after(time.Second, "a")
		w.deleteJob("a-a1")
		w.run("a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
		Expect(w.status("a").Message).To(ContainSubstring("its Job a-a1 is gone"))
		for range 3 {
			w.after(time.Hour, "a")
		}
		Expect(w.jobs()).To(BeEmpty())
		decision := w.decide(v1alpha1.DecisionConfirmNotApplied, "a")
		w.run("a")
		w.expectDecision(decision, v1alpha1.DecisionApplied)
		w.expect("a", v1alpha1.PhaseFailed, v1alpha1.ReasonConfirmedNotApplied)
	})

	It("is made again when somebody deletes it and running it twice is safe", func() {
		w := newWorld()
		_, release := w.newRunningJob(repeatable)
		uid := w.job("a-a1").UID
		w.after(time.Second, "a")
		w.deleteJob("a-a1")
		w.run("a")
		w.finishUntilInProgress("a")
		Eventually(func() bool { job := w.job("a-a1"); return job != nil && job.UID != uid }).Should(BeTrue())
		release()
		w.afterEnd(1, "a")
		w.expect("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
	})

	It("is not let go on again by the operator when a person suspends it", func() {
		w := newWorld()
		j, _ := w.newRunningJob()
		job := w.job("a-a1")
		Expect(admin.Patch(ctx, job, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"suspend":true}}`)))).To(Succeed())
		for range 3 {
			w.after(10*time.Minute, "a")
		}
		Expect(w.job("a-a1").Spec.Suspend).To(Equal(ptr.To(true)))
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonInProgress)
		Expect(j.ran()).To(Equal(1))
	})

	It("waits, and is not counted, while the API server refuses it", func() {
		w := newWorld()
		j := w.newJobs(ends(well), atMost(1))
		w.faults.refuse("create", aJob, 3, forbiddenJob)
		w.submit("a")
		w.run("a")
		w.expect("a", v1alpha1.PhasePending, v1alpha1.ReasonDependencyMissing)
		Expect(w.status("a").Message).To(ContainSubstring("exceeded quota"))
		w.throughJobs("a", 1)
		w.expect("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(j.ran()).To(Equal(1))
	})
})
