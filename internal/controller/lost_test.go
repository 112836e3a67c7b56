package controller_test

import (
	"errors"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

var (
	errInternal  = apierrors.NewInternalError(errConnection)
	errConflict  = apierrors.NewConflict(schema.GroupResource{Resource: "taskrecords"}, "it", errConnection)
	errInvalid   = apierrors.NewInvalid(schema.GroupKind{Kind: "TaskRecord"}, "it", nil)
	errForbidden = apierrors.NewForbidden(schema.GroupResource{Group: "taskonce.dev", Resource: "taskrecords"}, "it", errors.New("exceeded quota: records"))
	errTooBusy   = apierrors.NewTooManyRequests("later", 1)
)

var _ = Describe("A write to the API server", func() {
	var w *world
	BeforeEach(func() {
		w = newWorld()
		w.template("work")
		w.submit("a")
	})

	It("launches nothing when the answer to the first begin is lost; the next attempt goes on (hazard 8)", func() {
		w.faults.lose("create", records)
		_, err := w.pass("a")
		Expect(err).To(HaveOccurred())
		Expect(w.fake.Calls()).To(BeEmpty())
		Expect(w.action("a").Attempt.Open()).To(BeTrue(), "it landed")

		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		action := w.action("a")
		Expect(action.Attempt.Number).To(Equal(int32(2)))
		Expect(action.History[0].Outcome).To(Equal(v1alpha1.OutcomeNotApplied))
		Expect(action.Tries).To(BeZero(), "what was never sent does not count")
		Expect(w.sent("a")).To(Equal(1))
	})

	It("launches nothing when a later begin's answer is lost", func() {
		w.fake.On(1, effecttest.Busy("later"))
		w.run("a")
		w.faults.lose("update", recordsIn(v1alpha1.PhaseProcessing))
		w.finish("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.status("a").Attempts).To(Equal(int32(3)))
		Expect(w.sent("a")).To(Equal(2))
	})

	DescribeTable("is tried again when the begin does not land", func(err error) {
		w.faults.refuse("create", records, 2, err)
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.status("a").Attempts).To(Equal(int32(1)))
	},
		Entry("a dead connection", errConnection),
		Entry("an internal error", errInternal),
		Entry("throttling", errTooBusy),
	)

	DescribeTable("holds no slot while a begin that certainly did not land is waited with", func(err error) {
		w.faults.refuse("create", records, 1, err)
		_, failed := w.pass("a")
		Expect(failed).To(HaveOccurred())
		Expect(w.op.FlightState(w.named("a"))).To(Equal(lifecycle.FlightNone))
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	},
		Entry("a quota, a right or a policy", errForbidden),
		Entry("throttling", errTooBusy),
		Entry("too large for the API server", apierrors.NewRequestEntityTooLargeError("limit is 3145728")),
		Entry("too large for etcd", apierrors.NewInternalError(errors.New("etcdserver: request is too large"))),
	)

	It("that is refused is told in the status until it is not (I9)", func() {
		w.faults.refuse("create", records, 2, errForbidden)
		for range 2 {
			_, err := w.pass("a")
			Expect(err).To(HaveOccurred())
			w.expect("a", v1alpha1.PhasePending, v1alpha1.ReasonDependencyMissing)
			Expect(w.status("a").Message).To(And(ContainSubstring("exceeded quota: records"), ContainSubstring("tried again")))
		}
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("of an outcome that is refused is told too (I9)", func() {
		w.faults.refuse("update", recordsIn(v1alpha1.PhaseSuccess), 1, errForbidden)
		w.passesUntilAnError("a")
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting)
		Expect(w.status("a").Message).To(ContainSubstring("exceeded quota: records"))
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.sent("a")).To(Equal(1))
	})

	It("stops an attempt whose record went on without it (I2)", func() {
		w.fake.On(1, effecttest.Busy("later"))
		result := w.run("a")
		w.faults.before("update", records, func() {
			other := w.record("a")
			other.Spec.Action.Message = "another process wrote it"
			Expect(admin.Update(ctx, other)).To(Succeed())
		})
		w.after(result.RequeueAfter, "a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.sent("a")).To(Equal(2))
	})

	It("keeps an outcome until it is stored, and repeats no effect (I9)", func() {
		w.faults.refuse("update", recordsIn(v1alpha1.PhaseSuccess), 3, errInternal)
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.sent("a")).To(Equal(1))
	})

	It("stores an outcome once when the answer to that is lost", func() {
		w.faults.lose("update", recordsIn(v1alpha1.PhaseSuccess))
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.action("a").History).To(BeEmpty())
	})

	It("stores a refusal once when the answer to that is lost", func() {
		w.fake.On(1, effecttest.Busy("later"))
		w.faults.lose("update", recordsIn(v1alpha1.PhaseProcessing))
		w.finish("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.action("a").Tries).To(Equal(int32(1)))
		Expect(w.status("a").Attempts).To(Equal(int32(2)))
	})

	It("stores an outcome over a record that was touched meanwhile", func() {
		w.faults.refuse("update", recordsIn(v1alpha1.PhaseSuccess), 1, errConflict)
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("stores the phase without a result that the API server refuses (hazard 26)", func() {
		w.fake.On(1, effecttest.Applies(`{"points": 10}`))
		w.faults.refuse("update", recordsIn(v1alpha1.PhaseSuccess), 1, errInvalid)
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.status("a").Result).To(BeNil())
		Expect(w.status("a").ResultDigest).NotTo(BeEmpty())
	})

	It("stores the phase without a result that the API server cannot read (hazard 26)", func() {
		unreadable := effecttest.Applies(`{}`)
		unreadable.Outcome.Result = []byte(`{"x": 1e400}`)
		w.fake.On(1, unreadable)
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.status("a").Result).To(BeNil())
		Expect(w.status("a").ResultDigest).NotTo(BeEmpty())
	})

	It("stores the phase whatever the result's shape is", func() {
		w.fake.On(1, effecttest.Applies(strings.Repeat("[", 8000)+strings.Repeat("]", 8000)))
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	DescribeTable("to a status is tried again", func(err error) {
		w.faults.refuse("status", submissions, 2, err)
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	},
		Entry("after a conflict", errConflict),
		Entry("after an internal error", errInternal),
	)

	It("holds no slot when its begin is lost and it is deleted (I9)", func() {
		w.faults.refuse("create", records, 1, errConnection)
		_, err := w.pass("a")
		Expect(err).To(HaveOccurred())
		Expect(w.op.FlightState(w.named("a"))).To(Equal(lifecycle.FlightUnacknowledged))
		w.remove("a")
		w.run("a")
		Expect(w.op.InFlight()).To(BeZero())
		Expect(w.op.Remembered()).To(BeZero())
	})

	It("stores again what came of an attempt whose record and submission were deleted before that was stored (I9)", func() {
		w.fake.On(1, effecttest.Applies(`{"points": 10}`))
		w.faults.refuse("update", recordsIn(v1alpha1.PhaseSuccess), 1, errInternal)
		w.passesUntilAnError("a")
		Expect(admin.Delete(ctx, w.record("a"))).To(Succeed())
		w.remove("a")
		w.run("a")
		Expect(w.action("a").Phase).To(Equal(v1alpha1.PhaseSuccess))
		Expect(w.action("a").Result.Raw).To(MatchJSON(`{"points": 10}`))
		Expect(w.op.InFlight()).To(BeZero())
	})

	It("stores again what came of an attempt whose record was deleted while it ran", func() {
		hold := make(chan struct{})
		w.fake.On(1, effecttest.Applies(`{"points": 10}`).HeldAfter(hold))
		_, err := w.pass("a")
		Expect(err).NotTo(HaveOccurred())
		w.awaitCall(effecttest.Execute, 1)
		Expect(admin.Delete(ctx, w.record("a"))).To(Succeed())
		close(hold)
		w.run("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
		Expect(w.status("a").Result.Raw).To(MatchJSON(`{"points": 10}`))
	})
})
