package controller_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/internal/effect/httpcall"
)

var _ = Describe("A submission that is deleted", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	It("while it is pending leaves nothing behind, and begins afresh when it is applied again", func() {
		w.template("work", suspended)
		w.submit("a")
		w.run("a")
		w.remove("a")
		w.run("a")
		Expect(w.versions()).To(BeEmpty())
		w.submit("a")
		w.edit("work", func(spec *v1alpha1.TaskTemplateSpec) { spec.Suspend = false })
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.status("a").Replayed).To(BeFalse())
	})

	It("while it waits for an approval needs another one when it is applied again", func() {
		w.template("work", approved)
		w.submit("a")
		w.run("a")
		pins := pinned(digestIn(w.status("a").Message))
		first := w.submission("a")
		w.remove("a")
		w.run("a")
		w.submit("a")
		late := w.decideBy(v1alpha1.TaskDecisionSpec{Submission: "a", UID: first.UID, Action: v1alpha1.DecisionApprove, Reason: "the first"}, pins)
		w.run("a")
		w.expectDecision(late, v1alpha1.DecisionRefused)
		w.expect("a", v1alpha1.PhasePending, v1alpha1.ReasonAwaitingApproval)
	})

	It("while its request is in flight has its outcome kept", func() {
		hold := make(chan struct{})
		w.fake.On(1, effecttest.Applies(`{"receipt": 17}`).HeldAfter(hold))
		w.template("work")
		w.submit("a")
		_, err := w.pass("a")
		Expect(err).NotTo(HaveOccurred())
		w.awaitCall(effecttest.Execute, 1)
		w.remove("a")
		close(hold)
		w.run("a")
		Expect(w.action("a").Phase).To(Equal(v1alpha1.PhaseSuccess))
		w.submit("a")
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.status("a").Replayed).To(BeTrue())
		Expect(w.status("a").Result.Raw).To(MatchJSON(`{"receipt": 17}`))
	})

	It("while its outcome is unknown still needs a person's word, who names the record", func() {
		w.fake.SetTraits(silent())
		w.fake.On(1, effecttest.LostAfter())
		w.template("work", keptFor(time.Hour))
		w.submit("a")
		w.run("a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
		w.remove("a")
		w.clock.Step(1000 * time.Hour)
		w.sweep()
		Expect(w.action("a").Unsettled).To(BeTrue(), "it is not forgotten")
		Expect(w.op.WithoutSubmission()).To(Equal(map[string]int{"work": 1}), "and counted")
		w.decideBy(v1alpha1.TaskDecisionSpec{Submission: "a", UID: w.record("a").UID, Attempt: 1, Action: v1alpha1.DecisionConfirmApplied, Reason: "it is there"})
		w.run("a")
		w.submit("a")
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonConfirmedApplied)
		w.sweep()
		Expect(w.op.WithoutSubmission()).To(BeEmpty())
	})

	It("is not counted among those that were deleted while it is there", func() {
		w.fake.SetTraits(silent())
		w.fake.On(1, effecttest.LostAfter())
		w.template("work")
		w.submit("a")
		w.run("a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonOutcomeUnknown)
		w.sweep()
		Expect(w.op.WithoutSubmission()).To(BeEmpty())
	})

	It("by force, between its record and its claim, is applied at most once, and replayed", func() {
		w.template("work", forOrder)
		w.submit("a")
		w.faults.before("create", claims, func() { w.remove("a") })
		w.run("a")
		w.submit("a")
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		w.submit("b")
		w.run("b")
		w.expect("b", v1alpha1.PhaseSuccess, v1alpha1.ReasonAlreadyApplied)
	})

	It("with its record by hand is forgotten, deliberately", func() {
		w.template("work")
		w.submit("a")
		w.run("a")
		Expect(admin.Delete(ctx, w.record("a"))).To(Succeed())
		w.again("a")
		w.run("a")
		w.expect("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(w.effects("a")).To(Equal(2), "forgetting is what deleting a record means")
	})

	It("with its whole namespace is forgotten, and what it came to holds no slot", func() {
		hold := make(chan struct{})
		w.fake.On(1, effecttest.Applies(`{}`).HeldAfter(hold))
		w.template("work")
		w.submit("a")
		_, err := w.pass("a")
		Expect(err).NotTo(HaveOccurred())
		w.awaitCall(effecttest.Execute, 1)
		Expect(admin.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})).To(Succeed())
		w.remove("a") // as the namespace controller does
		Expect(admin.Delete(ctx, w.record("a"))).To(Succeed())
		close(hold)
		w.landed("a")
		Eventually(func() int {
			_, err = w.pass("a")
			return w.op.InFlight()
		}).Should(BeZero())
		Expect(err).To(MatchError(ContainSubstring("forgotten with its namespace")))
		_, err = w.pass("a")
		Expect(err).NotTo(HaveOccurred())
		Expect(w.op.Remembered()).To(BeZero())
	})

	It("keeps of a result of 5 MB a note, and the outcome", func() {
		receiver := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
			answer.Header().Set("Content-Type", "application/json")
			_, _ = answer.Write([]byte(`"` + strings.Repeat("x", 5<<20) + `"`))
		}))
		DeferCleanup(receiver.Close)
		managed := newManaged(httpcall.New(httpcall.Options{AllowLoopback: true}))
		managed.template("work", func(spec *v1alpha1.TaskTemplateSpec) { spec.Effect.HTTP.URL = receiver.URL })
		managed.submit("a")
		managed.eventually("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(len(managed.action("a").Result.Raw)).To(BeNumerically("<", 1<<10))
		before := managed.status("a")
		managed.again("a")
		managed.eventually("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(managed.status("a").Result).To(Equal(before.Result))
	})
})
