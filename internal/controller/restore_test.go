package controller_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// restore replaces a record by a copy, as a backup does: the same spec under a new UID.
func (w *world) restore(backup *v1alpha1.TaskRecord) {
	GinkgoHelper()
	if current := w.record(backup.Spec.Key); current != nil {
		Expect(admin.Delete(ctx, current)).To(Succeed())
	}
	backup.ObjectMeta = metav1.ObjectMeta{Namespace: backup.Namespace, Name: backup.Name, Labels: backup.Labels}
	Expect(admin.Create(ctx, backup)).To(Succeed())
}

// writeStatus sets a submission's status, as a restore or a person may.
func (w *world) writeStatus(name string, edit func(*v1alpha1.TaskSubmissionStatus)) {
	GinkgoHelper()
	submission := w.submission(name)
	edit(&submission.Status)
	Expect(admin.Status().Update(ctx, submission)).To(Succeed())
}

var _ = Describe("After a restore", func() {
	var w *world
	BeforeEach(func() {
		w = newWorld()
		w.fake.SetTraits(asked(time.Minute))
		w.template("work")
	})

	It("a record from before the last attempt is in doubt, whatever it says (hazard 22)", func() {
		w.fake.On(1, effecttest.Busy("later"))
		w.submit("a")
		w.run("a")
		backup := w.record("a")
		w.finish("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)

		w.again("a")
		w.restore(backup)
		w.replaceProcess()
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonVerifiedApplied)
		Expect(w.sent("a")).To(Equal(2), "the two of before the restore")
	})

	It("a record of an attempt that never ran again is verified, and goes on after the settling time", func() {
		w.fake.On(1, effecttest.Busy("later"))
		w.submit("a")
		w.run("a")
		w.restore(w.record("a"))
		result := w.run("a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonVerifying)
		w.after(result.RequeueAfter, "a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("a record that had finished is as good as ever", func() {
		w.submit("a")
		w.run("a")
		w.restore(w.record("a"))
		w.again("a")
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.fake.Calls()).To(HaveLen(1))
	})

	It("a record from the first moment of an attempt is an orphan", func() {
		hold := make(chan struct{})
		w.fake.On(1, effecttest.Applies(`{}`).HeldAfter(hold))
		w.submit("a")
		_, err := w.pass("a")
		Expect(err).NotTo(HaveOccurred())
		w.awaitCall(effecttest.Execute, 1)
		backup := w.record("a")
		close(hold)
		w.run("a")
		w.again("a")
		w.restore(backup)
		w.replaceProcess()
		Expect(w.run("a").RequeueAfter).To(Equal(30*time.Second + lifecycle.Grace))
		w.after(30*time.Second+lifecycle.Grace, "a")
		w.expectOnce("a", v1alpha1.ReasonVerifiedApplied)
	})

	It("a status that was lost is made again from the record (I8)", func() {
		w.submit("a")
		w.run("a")
		before := w.status("a")
		w.writeStatus("a", func(status *v1alpha1.TaskSubmissionStatus) {
			*status = v1alpha1.TaskSubmissionStatus{Phase: v1alpha1.PhasePending, ObservedGeneration: -1}
		})
		w.replaceProcess()
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.status("a").ResultDigest).To(Equal(before.ResultDigest))
		Expect(w.status("a").CompletedAt).To(Equal(before.CompletedAt))
	})

	DescribeTable("a status that speaks of an attempt without a record is believed (hazard 19)", func(happened bool) {
		w.submit("a")
		if happened {
			w.fake.Finish(w.namespace + "/a")
		}
		w.writeStatus("a", func(status *v1alpha1.TaskSubmissionStatus) {
			status.Phase, status.Reason, status.Attempts = v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting, 3
		})
		w.finish("a")
		// Under which effect it was begun is not known any more, so a person is asked.
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
		Expect(w.status("a").Attempts).To(Equal(int32(3)))
		Expect(w.fake.Calls(effecttest.Execute)).To(BeEmpty())
	},
		Entry("and it happened", true),
		Entry("and it did not", false),
	)

	It("a result in a status stands when its record was deleted by hand", func() {
		w.submit("a")
		w.run("a")
		Expect(admin.Delete(ctx, w.record("a"))).To(Succeed())
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.record("a")).To(BeNil())
	})
})
