package record_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/internal/record"
)

var _ = Describe("The store", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	It("creates the record of a key once", func() {
		Expect(w.store.Read(ctx, w.namespace, "a")).To(BeNil())
		created := w.create("a", begun())
		Expect(created.Name).To(Equal(v1alpha1.RecordName("a")))
		Expect(created.Labels).To(HaveKeyWithValue(v1alpha1.LabelSubmission, "a"))
		Expect(created.ResourceVersion).NotTo(BeEmpty())
		_, err := w.store.Create(ctx, w.namespace, "a", "work", begun(), time.Time{})
		Expect(apierrors.IsAlreadyExists(err)).To(BeTrue())
		Expect(w.store.Read(ctx, w.namespace, "a")).To(HaveField("UID", created.UID))
	})

	It("swaps what was read, and nothing newer", func() {
		first := w.create("a", begun())
		_, err := w.store.Update(ctx, first, ended(v1alpha1.PhaseFailed, v1alpha1.ReasonRejected), time.Time{})
		Expect(err).NotTo(HaveOccurred())
		_, err = w.store.Update(ctx, first, ended(v1alpha1.PhaseFailed, v1alpha1.ReasonCancelled), time.Time{})
		Expect(apierrors.IsConflict(err)).To(BeTrue(), "%v", err)
		Expect(first.Spec.Action.Phase).To(Equal(v1alpha1.PhaseProcessing), "what was read is left as it was")
	})

	It("says NotFound of a record that was deleted, and makes no new one", func() {
		first := w.create("a", begun())
		Expect(live.Delete(ctx, first)).To(Succeed())
		_, err := w.store.Update(ctx, first, ended(v1alpha1.PhaseFailed, v1alpha1.ReasonRejected), time.Time{})
		Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
	})

	It("does not take another key's record for this one's", func() {
		other := w.create("a", begun())
		copied := &v1alpha1.TaskRecord{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: v1alpha1.RecordName("b")}, Spec: other.Spec}
		Expect(live.Create(ctx, copied)).To(Succeed())
		_, err := w.store.Read(ctx, w.namespace, "b")
		var collision *record.CollisionError
		Expect(errors.As(err, &collision)).To(BeTrue(), "%v", err)
	})

	It("finds the record of a name, and takes no claim for one", func() {
		created := w.create("a", claiming(begun()))
		claim, err := w.store.CreateClaim(ctx, created)
		Expect(err).NotTo(HaveOccurred())
		Expect(w.store.Named(ctx, w.namespace, created.Name)).To(HaveField("UID", created.UID))
		Expect(w.store.Named(ctx, w.namespace, claim.Name)).To(BeNil())
		Expect(w.store.Named(ctx, w.namespace, "missing")).To(BeNil())
	})

	It("labels a record with when it is due", func() {
		created := w.create("a", begun())
		due, ok := lifecycle.Due(created.Spec.Action)
		Expect(ok).To(BeTrue())
		Expect(created.Labels).To(HaveKeyWithValue(v1alpha1.LabelDue, strconv.FormatInt(due.Unix()+1, 10)))
		kept, err := w.store.Update(ctx, created, ended(v1alpha1.PhaseFailed, v1alpha1.ReasonRejected), time.Time{})
		Expect(err).NotTo(HaveOccurred())
		Expect(kept.Labels).NotTo(HaveKey(v1alpha1.LabelDue), "without an expiry it is kept for ever")
	})

	It("visits what is due, and nothing else", func() {
		for name, due := range map[string]string{"past": "1800000000", "now": "1800000100", "future": "1800000200"} {
			created := w.create(name, begun())
			created.Labels[v1alpha1.LabelDue] = due
			Expect(live.Update(ctx, created)).To(Succeed())
		}
		w.create("never", ended(v1alpha1.PhaseFailed, v1alpha1.ReasonRejected))
		var visited []string
		Expect(w.store.EachDue(ctx, "", time.Unix(1_800_000_100, 0), func(due *v1alpha1.TaskRecord) {
			if due.Namespace == w.namespace { // of all namespaces, and others have their records too
				visited = append(visited, due.Spec.Key)
			}
		})).To(Succeed())
		Expect(visited).To(Equal([]string{"past"}))
	})

	It("finds records by the submission's name", func() {
		w.create("a", begun())
		Expect(w.store.OfSubmission(ctx, w.namespace, "a")).To(HaveLen(1))
		Expect(w.store.OfSubmission(ctx, w.namespace, "b")).To(BeEmpty())
	})

	DescribeTable("stores a phase without the result that is not taken (hazard 26)", func(refusal error) {
		refusing := interceptor.NewClient(live, interceptor.Funcs{
			Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
				if object.(*v1alpha1.TaskRecord).Spec.Action.Result != nil {
					return refusal
				}
				return c.Update(ctx, object, options...)
			},
		})
		store := &record.Store{Client: refusing}
		done := ended(v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		done.Result, done.ResultDigest = &apiextensionsv1.JSON{Raw: []byte(`{"receipt":17}`)}, "sha256:result"
		stored, err := store.Update(ctx, w.create("a", begun()), done, time.Time{})
		Expect(err).NotTo(HaveOccurred())
		Expect(stored.Spec.Action.Phase).To(Equal(v1alpha1.PhaseSuccess))
		Expect(stored.Spec.Action.Result).To(BeNil())
		Expect(stored.Spec.Action.ResultDigest).To(Equal("sha256:result"))
	},
		Entry("invalid", apierrors.NewInvalid(schema.GroupKind{}, "a", nil)),
		Entry("too large", apierrors.NewRequestEntityTooLargeError("limit is 3145728")),
	)

	It("stores a result that nests as deep as 16 KiB can", func() {
		done := ended(v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		done.Result = &apiextensionsv1.JSON{Raw: []byte(strings.Repeat("[", 8000) + strings.Repeat("]", 8000))}
		stored, err := w.store.Update(ctx, w.create("a", begun()), done, time.Time{})
		Expect(err).NotTo(HaveOccurred())
		Expect(stored.Spec.Action.Phase).To(Equal(v1alpha1.PhaseSuccess))
	})
})
