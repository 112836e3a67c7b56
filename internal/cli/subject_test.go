package cli

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// counting is an API server that has one template, and counts how often one is read.
type counting struct {
	client.WithWatch
	reads atomic.Int32
}

func (c *counting) Get(_ context.Context, name types.NamespacedName, into client.Object, _ ...client.GetOption) error {
	c.reads.Add(1)
	if name.Name != "refund" {
		return apierrors.NewNotFound(schema.GroupResource{}, name.Name)
	}
	into.SetName(name.Name)
	return nil
}

// A hundred that are decided about have one template, which is read once: also one that is missing.
func TestATemplateIsReadOnceForMany(t *testing.T) {
	api := &counting{}
	c := &cluster{api: api}
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			s := told().subject
			if i%2 == 1 {
				s.submission.Spec.TemplateRef.Name = "missing"
			}
			if err := c.addTemplate(t.Context(), s); err != nil || (s.template == nil) != (i%2 == 1) {
				t.Errorf("%v, %v", s.template, err)
			}
		})
	}
	all.Wait()
	if n := api.reads.Load(); n != 2 {
		t.Errorf("two templates were read %d times", n)
	}
}
