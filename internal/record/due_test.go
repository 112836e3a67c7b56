package record_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/record"
)

// paged is an API server that answers a list in two pages. The real client, too, decodes into what it is given.
type paged struct{ client.Client }

func (paged) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	page := `{"metadata":{"continue":"more"},"items":[{"metadata":{"name":"first","labels":{"a":"1"}},"spec":{"key":"first","action":{"claim":"c","expiresAt":"2026-01-01T00:00:00Z"}}}]}`
	if (&client.ListOptions{}).ApplyOptions(options).Continue != "" {
		page = `{"metadata":{"continue":""},"items":[{"metadata":{"name":"second"},"spec":{"key":"second","action":{}}}]}`
	}
	return json.Unmarshal([]byte(page), into)
}

// A record is looked at while the next page is read, and decides what is removed: nothing of one gets into another.
func TestARecordIsItselfWhenTheNextPageIsRead(t *testing.T) {
	var visited []*v1alpha1.TaskRecord
	store := &record.Store{Client: paged{}}
	if err := store.EachDue(t.Context(), "", time.Now(), func(due *v1alpha1.TaskRecord) { visited = append(visited, due) }); err != nil {
		t.Fatal(err)
	}
	if len(visited) != 2 {
		t.Fatalf("%d records were visited; want 2", len(visited))
	}
	first, second := visited[0], visited[1]
	if first.Name != "first" || first.Spec.Action.Claim != "c" || first.Spec.Action.ExpiresAt == nil {
		t.Errorf("the first record is %s, %+v after the second page", first.Name, first.Spec)
	}
	if second.Name != "second" || second.Labels != nil || second.Spec.Action.Claim != "" || second.Spec.Action.ExpiresAt != nil {
		t.Errorf("the second record is %s, %v, %+v: it has something of the first", second.Name, second.Labels, second.Spec)
	}
}
