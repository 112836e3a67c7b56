package inbox_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
)

// counting is an API server that has one template, and counts how often one is read.
type counting struct {
	client.Reader
	reads atomic.Int32
}

func (c *counting) Get(_ context.Context, name types.NamespacedName, into client.Object, _ ...client.GetOption) error {
	if _, asked := into.(*v1alpha1.TaskTemplate); asked {
		c.reads.Add(1)
	}
	if name.Name != "refund" {
		return apierrors.NewNotFound(schema.GroupResource{}, name.Name)
	}
	into.SetName(name.Name)
	return nil
}

// A hundred that are decided about have one template, which is read once: also one that is missing.
func TestATemplateIsReadOnceForMany(t *testing.T) {
	api := &counting{}
	reader := &inbox.Reader{API: api}
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			template, missing := "refund", i%2 == 1
			if missing {
				template = "missing"
			}
			s, err := reader.Complete(t.Context(), &v1alpha1.TaskSubmission{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "refund-1001"},
				Spec:       v1alpha1.TaskSubmissionSpec{TemplateRef: v1alpha1.TemplateRef{Name: template}},
			})
			if err != nil || (s.Template == nil) != missing {
				t.Errorf("%v, %v", s.Template, err)
			}
		})
	}
	all.Wait()
	if n := api.reads.Load(); n != 2 {
		t.Errorf("two templates were read %d times", n)
	}
}
