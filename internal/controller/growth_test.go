package controller_test

import (
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

// That judgement makes nothing grow over ten thousand attempts is TestTenThousandAttemptsStory's to say. Here the last of
// them are written to a real API server, upon what the ones before can have left at most.
var _ = Describe("An object that has seen 10,000 attempts and as many duplicates", func() {
	It("stays small and writable, and ends as any other", func() {
		const last, here = 10_000, 25
		w := newWorld()
		wordy := strings.Repeat("the receiver is busy; ", 1000)
		w.fake.SetDefault(effecttest.Busy(wordy))
		w.fake.On(last, effecttest.Applies(`"`+strings.Repeat("x", 15<<10)+`"`))
		w.template("work", forOrder, atMost(1000))
		w.submit("a")
		w.run("a")
		record := w.record("a")
		record.Spec.Action.Attempt.Number = last - here
		record.Spec.Action.Attempt.Location = strings.Repeat("l", 2048)
		for range 10 {
			record.Spec.Action.History = append(record.Spec.Action.History, record.Spec.Action.Attempt)
		}
		Expect(admin.Update(ctx, record)).To(Succeed())

		for range here {
			Expect(apierrors.IsAlreadyExists(admin.Create(ctx, newSubmission(w.namespace, "a")))).To(BeTrue())
			w.again("a")
			w.clock.Step(w.run("a").RequeueAfter)
			w.run("a")
		}
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.status("a").Attempts).To(Equal(int32(last)))
		Expect(w.action("a").History).To(HaveLen(10))
		for _, object := range []client.Object{w.submission("a"), w.record("a")} {
			stored, err := json.Marshal(object)
			Expect(err).NotTo(HaveOccurred())
			Expect(len(stored)).To(BeNumerically("<", 40<<10), "%T", object)
			Expect(len(object.GetManagedFields())).To(BeNumerically("<", 5), "%T", object)
		}
	})
})
