package controller

import (
	"context"
	"encoding/json"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// paged is an API server that answers a list in two pages. The real client, too, decodes into what it is given.
type paged struct{ client.Client }

func (paged) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	page := `{"metadata":{"continue":"more"},"items":[{"metadata":{"name":"first"},"status":{"phase":"Failed","conditions":[{"type":"Finished"}]}}]}`
	if (&client.ListOptions{}).ApplyOptions(options).Continue != "" {
		page = `{"metadata":{"continue":""},"items":[{"metadata":{"name":"second"},"status":{"phase":"Failed"}}]}`
	}
	return json.Unmarshal([]byte(page), into)
}

// A submission is looked at while the next page is read, and is removed by what it says: nothing of one gets into another.
func TestASubmissionIsItselfWhenTheNextPageIsRead(t *testing.T) {
	var visited []*v1alpha1.TaskSubmission
	r := &Submissions{Live: paged{}}
	page := func() client.ObjectList { return &v1alpha1.TaskSubmissionList{} }
	visit := func(object client.Object) { visited = append(visited, object.(*v1alpha1.TaskSubmission)) }
	if err := r.eachPage(t.Context(), page, client.ListOptions{}, visit); err != nil {
		t.Fatal(err)
	}
	if len(visited) != 2 {
		t.Fatalf("%d submissions were visited; want 2", len(visited))
	}
	if first := visited[0]; first.Name != "first" || len(first.Status.Conditions) != 1 {
		t.Errorf("the first submission is %s, %+v after the second page", first.Name, first.Status)
	}
	if second := visited[1]; second.Name != "second" || len(second.Status.Conditions) != 0 {
		t.Errorf("the second submission is %s, %+v: it has something of the first", second.Name, second.Status)
	}
}
