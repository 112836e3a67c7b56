package record_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func decided(action v1alpha1.DecisionAction, uid string) *v1alpha1.DecisionRef {
	return &v1alpha1.DecisionRef{Name: "d", UID: types.UID(uid), Action: action}
}

// The API server refuses what no transition of ours makes: against a bug, and against a hand.
var _ = Describe("The API server", func() {
	succeeded := ended(v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
	succeeded.Result, succeeded.ResultDigest = &apiextensionsv1.JSON{Raw: []byte(`{"receipt":17}`)}, "sha256:result"
	failed := ended(v1alpha1.PhaseFailed, v1alpha1.ReasonRejected)
	reopened := *failed.DeepCopy()
	reopened.Phase, reopened.Reason, reopened.Decision = v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying, decided(v1alpha1.DecisionRetry, "1")
	failedAgain := *reopened.DeepCopy()
	failedAgain.Phase, failedAgain.Reason = v1alpha1.PhaseFailed, v1alpha1.ReasonRejected

	edited := func(action v1alpha1.Action, edit func(*v1alpha1.Action)) v1alpha1.Action {
		next := *action.DeepCopy()
		edit(&next)
		return next
	}

	DescribeTable("refuses", func(from, to v1alpha1.Action, saying string) {
		w := newWorld()
		_, err := w.store.Update(ctx, w.create("a", from), to, time.Time{})
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring(saying)))
	},
		Entry("that Success becomes Failed", succeeded, edited(succeeded, func(a *v1alpha1.Action) { a.Phase = v1alpha1.PhaseFailed }), "Success is final"),
		Entry("that Success is begun again", succeeded, edited(succeeded, func(a *v1alpha1.Action) { a.Phase = v1alpha1.PhaseProcessing }), "Success is final"),
		Entry("another result", succeeded, edited(succeeded, func(a *v1alpha1.Action) { a.ResultDigest = "sha256:other" }), "a stored result"),
		Entry("that a result is dropped", succeeded, edited(succeeded, func(a *v1alpha1.Action) { a.ResultDigest = "" }), "a stored result"),
		Entry("an earlier attempt", begun(), edited(begun(), func(a *v1alpha1.Action) { a.Attempt.Number = 0 }), "never falls"),
		Entry("another payload", begun(), edited(begun(), func(a *v1alpha1.Action) { a.PayloadDigest = "sha256:other" }), "payload"),
		Entry("that Failed is left without a decision", failed, edited(failed, func(a *v1alpha1.Action) { a.Phase = v1alpha1.PhaseProcessing }), "Retry"),
		Entry("that Failed is left by another decision", failed, edited(reopened, func(a *v1alpha1.Action) { a.Decision.Action = v1alpha1.DecisionCancel }), "Retry"),
		Entry("that Failed is left by the Retry of before", failedAgain, reopened, "Retry"),
		Entry("that Failed becomes Success", failed, edited(failed, func(a *v1alpha1.Action) { a.Phase = v1alpha1.PhaseSuccess }), "Retry"),
		Entry("more than ten attempts of history", begun(), edited(begun(), func(a *v1alpha1.Action) { a.History = make([]v1alpha1.Attempt, 11) }), "10"),
	)

	DescribeTable("takes", func(from, to v1alpha1.Action) {
		w := newWorld()
		_, err := w.store.Update(ctx, w.create("a", from), to, time.Time{})
		Expect(err).NotTo(HaveOccurred())
	},
		Entry("an end", begun(), succeeded),
		Entry("a Retry", failed, reopened),
		Entry("another Retry", failedAgain, edited(reopened, func(a *v1alpha1.Action) { a.Decision = decided(v1alpha1.DecisionRetry, "2") })),
		Entry("a renewal", succeeded, succeeded),
	)

	It("keeps what a record guards", func() {
		w := newWorld()
		for _, edit := range []func(*v1alpha1.TaskRecordSpec){
			func(spec *v1alpha1.TaskRecordSpec) { spec.Key = "b" },
			func(spec *v1alpha1.TaskRecordSpec) { spec.Template = "other" },
			func(spec *v1alpha1.TaskRecordSpec) { spec.Action = nil },
			func(spec *v1alpha1.TaskRecordSpec) { spec.Holder = &v1alpha1.Holder{Record: "x", UID: "y"} },
		} {
			record, err := w.store.Read(ctx, w.namespace, "a")
			Expect(err).NotTo(HaveOccurred())
			if record == nil {
				record = w.create("a", begun())
			}
			edit(&record.Spec)
			Expect(apierrors.IsInvalid(live.Update(ctx, record))).To(BeTrue())
		}
	})
})
