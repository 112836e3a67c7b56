package record_test

import (
	"time"

	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/record"
)

var _ = Describe("A claim", func() {
	var (
		w      *world
		first  *v1alpha1.TaskRecord
		second *v1alpha1.TaskRecord
	)
	BeforeEach(func() {
		w = newWorld()
		first, second = w.create("first", claiming(begun())), w.create("second", claiming(begun()))
	})
	claim := func(owner *v1alpha1.TaskRecord) *v1alpha1.TaskRecord {
		GinkgoHelper()
		created, err := w.store.CreateClaim(ctx, owner)
		Expect(err).NotTo(HaveOccurred())
		return created
	}

	It("is held by one record", func() {
		claim(first)
		_, err := w.store.CreateClaim(ctx, second)
		Expect(apierrors.IsAlreadyExists(err)).To(BeTrue())
		found, holder, err := w.store.ReadClaim(ctx, second)
		Expect(err).NotTo(HaveOccurred())
		Expect(found.Spec.Holder.Record).To(Equal(first.Name))
		Expect(holder.UID).To(Equal(first.UID))
	})

	It("names no holder to its own record, and none that is gone", func() {
		claim(first)
		_, holder, err := w.store.ReadClaim(ctx, first)
		Expect(err).NotTo(HaveOccurred())
		Expect(holder).To(BeNil())
		Expect(live.Delete(ctx, first)).To(Succeed())
		found, holder, err := w.store.ReadClaim(ctx, second)
		Expect(err).NotTo(HaveOccurred())
		Expect(found).NotTo(BeNil())
		Expect(holder).To(BeNil())
	})

	It("is taken over only as it was read", func() {
		read := claim(first)
		taken, err := w.store.TakeClaim(ctx, read, second)
		Expect(err).NotTo(HaveOccurred())
		Expect(taken.Spec.Holder.UID).To(Equal(second.UID))
		_, err = w.store.TakeClaim(ctx, read, second)
		Expect(apierrors.IsConflict(err)).To(BeTrue())
	})

	It("is released only as it was read (hazard 18)", func() {
		read := claim(first)
		_, err := w.store.TakeClaim(ctx, read, second)
		Expect(err).NotTo(HaveOccurred())
		Expect(apierrors.IsConflict(w.store.Release(ctx, read))).To(BeTrue())
		now, _, err := w.store.ReadClaim(ctx, second)
		Expect(err).NotTo(HaveOccurred())
		Expect(w.store.Release(ctx, now)).To(Succeed())
		Expect(apierrors.IsNotFound(w.store.Release(ctx, now))).To(BeTrue(), "it is told once")
	})

	It("is not another one of the same name", func() {
		read := claim(first)
		Expect(w.store.Release(ctx, read)).To(Succeed())
		claim(second)
		Expect(apierrors.IsConflict(w.store.Release(ctx, read))).To(BeTrue())
	})

	It("is no claim on another business key that has its name", func() {
		claim(first)
		other := second.DeepCopy()
		other.Spec.Action.BusinessKey = "8"
		_, _, err := w.store.ReadClaim(ctx, other)
		Expect(err).To(BeAssignableToTypeOf(&record.CollisionError{}))
	})

	It("goes before its record when that expires, and stays when another holds it", func() {
		read := claim(first)
		var deleted []string
		noting := &record.Store{Client: interceptor.NewClient(live, interceptor.Funcs{
			Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
				deleted = append(deleted, object.GetName())
				return c.Delete(ctx, object, options...)
			},
		})}
		Expect(noting.Expire(ctx, second)).To(Succeed())
		Expect(deleted).To(Equal([]string{second.Name}), "the claim is the first one's")
		deleted = nil
		Expect(noting.Expire(ctx, first)).To(Succeed())
		Expect(deleted).To(Equal([]string{read.Name, first.Name}))
	})

	It("stays with its record when that was written meanwhile", func() {
		newer, err := w.store.Update(ctx, first, claiming(ended(v1alpha1.PhaseFailed, v1alpha1.ReasonRejected)), time.Time{})
		Expect(err).NotTo(HaveOccurred())
		Expect(apierrors.IsConflict(w.store.Expire(ctx, first))).To(BeTrue())
		Expect(w.store.Read(ctx, w.namespace, "first")).To(HaveField("ResourceVersion", newer.ResourceVersion))
	})
})
