package install_test

import (
	"slices"
	"testing"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// TestAMissingAndASpareRightAreNoticed takes each part of some rights away, and adds one, and has that told.
func TestAMissingAndASpareRightAreNoticed(t *testing.T) {
	asked := func(verb, resource, subresource, namespace, name, decision string) *auditv1.Event {
		return &auditv1.Event{
			Verb: verb, Annotations: map[string]string{"authorization.k8s.io/decision": decision},
			ObjectRef: &auditv1.ObjectReference{Resource: resource, Subresource: subresource, Namespace: namespace, Name: name},
		}
	}
	grants := []grant{
		{resource: "secrets", verb: "get"},
		{resource: "jobs/status", verb: "update"},
		{resource: "leases", verb: "create", in: "here"},
		{resource: "hooks", verb: "get", name: "mine"},
	}
	requests := []*auditv1.Event{
		asked("get", "secrets", "", "a", "x", "allow"), asked("update", "jobs", "status", "a", "x", "allow"),
		asked("create", "leases", "", "here", "x", "allow"), asked("get", "hooks", "", "", "mine", "allow"),
	}
	if wrong := judge(grants, requests); wrong != nil {
		t.Errorf("all are needed, and it says %q", wrong)
	}
	for i := range requests {
		without := slices.Delete(slices.Clone(requests), i, i+1)
		if wrong := judge(grants, without); !slices.Equal(wrong, []string{"not needed: " + grants[i].String()}) {
			t.Errorf("%s is not needed, and it says %q", grants[i], wrong)
		}
	}
	twice := append(slices.Clone(grants), grant{resource: "secrets", verb: "get", in: "a"})
	if wrong := judge(twice, requests); len(wrong) != 2 {
		t.Errorf("one of two would do, and it says %q", wrong)
	}
	refused := append(slices.Clone(requests), asked("list", "nodes", "", "", "", "forbid"))
	if wrong := judge(grants, refused); !slices.Equal(wrong, []string{"forbidden: list nodes/ /"}) {
		t.Errorf("one was refused, and it says %q", wrong)
	}
}
