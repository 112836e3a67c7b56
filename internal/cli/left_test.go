package cli

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// archive is an API server with three pages of records, each with one that has finished and one that asks.
type archive struct {
	client.WithWatch
	t *testing.T
}

func (a archive) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	if asked.Limit != recordsAtOnce || asked.Namespace != "shop" {
		a.t.Errorf("it was asked for %+v", asked)
	}
	page := into.(*v1alpha1.TaskRecordList)
	for _, reason := range []v1alpha1.Reason{v1alpha1.ReasonApplied, v1alpha1.ReasonOutcomeUnknown} {
		page.Items = append(page.Items, v1alpha1.TaskRecord{
			ObjectMeta: metav1.ObjectMeta{Name: string(reason) + asked.Continue}, Spec: v1alpha1.TaskRecordSpec{Action: &v1alpha1.Action{Reason: reason}},
		})
	}
	page.Continue = map[string]string{"": "1", "1": "2", "2": ""}[asked.Continue]
	return nil
}

// TestRecordsAreReadInPages: all of them, and those that have finished are not kept.
func TestRecordsAreReadInPages(t *testing.T) {
	c := &cluster{api: archive{t: t}}
	records, err := c.abandoned(t.Context(), &client.ListOptions{Namespace: "shop", Limit: recordsAtOnce})
	if err != nil || len(records) != 3 {
		t.Fatalf("%d, %v", len(records), err)
	}
	for i, record := range records {
		if want := "OutcomeUnknown" + []string{"", "1", "2"}[i]; record.Name != want {
			t.Errorf("number %d is %s, want %s", i, record.Name, want)
		}
	}
}
