package install_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/test/harness"
)

// grant is one thing that a rule allows: the smallest part of it that could be taken away.
type grant struct {
	// in is the namespace that it holds in; empty: everywhere.
	in, group, resource, verb string
	// name is the one object that it is for; empty: any.
	name string
}

func (g grant) String() string {
	words := g.verb + " " + strings.Trim(g.resource+"."+g.group, ".")
	if g.name != "" {
		words += " " + g.name
	}
	if g.in != "" {
		words += " in " + g.in
	}
	return words
}

// allows says whether the grant allows a request.
func (g grant) allows(e *auditv1.Event) bool {
	resource := e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		resource += "/" + e.ObjectRef.Subresource
	}
	return (g.in == "" || g.in == e.ObjectRef.Namespace) && (g.name == "" || g.name == e.ObjectRef.Name) &&
		g.group == e.ObjectRef.APIGroup && g.resource == resource && g.verb == e.Verb
}

// grants are what a service account has been given, part by part.
func (w *world) grants(namespace, account string) []grant {
	w.Helper()
	bound := func(subjects []rbacv1.Subject) bool {
		return slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
			return s.Kind == rbacv1.ServiceAccountKind && s.Name == account && s.Namespace == namespace
		})
	}
	var all []grant
	everywhere := &rbacv1.ClusterRoleBindingList{}
	w.must(w.client.List(w.Context(), everywhere))
	for i := range everywhere.Items {
		if bound(everywhere.Items[i].Subjects) {
			role := &rbacv1.ClusterRole{}
			w.must(w.client.Get(w.Context(), client.ObjectKey{Name: everywhere.Items[i].RoleRef.Name}, role))
			all = append(all, parts("", role.Rules)...)
		}
	}
	somewhere := &rbacv1.RoleBindingList{}
	w.must(w.client.List(w.Context(), somewhere))
	for i := range somewhere.Items {
		if in := somewhere.Items[i].Namespace; bound(somewhere.Items[i].Subjects) {
			all = append(all, parts(in, w.rules(in, somewhere.Items[i].RoleRef))...)
		}
	}
	return all
}

// rules are those of the role that a RoleBinding names.
func (w *world) rules(in string, ref rbacv1.RoleRef) []rbacv1.PolicyRule {
	w.Helper()
	if ref.Kind == "ClusterRole" {
		role := &rbacv1.ClusterRole{}
		w.must(w.client.Get(w.Context(), client.ObjectKey{Name: ref.Name}, role))
		return role.Rules
	}
	role := &rbacv1.Role{}
	w.must(w.client.Get(w.Context(), client.ObjectKey{Namespace: in, Name: ref.Name}, role))
	return role.Rules
}

func parts(in string, rules []rbacv1.PolicyRule) []grant {
	var all []grant
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						all = append(all, grant{in: in, group: group, resource: resource, verb: verb, name: name})
					}
				}
			}
		}
	}
	return all
}

// requests are those of a service account that the API server has logged since the test began: what the operators of earlier
// tests asked for while their rights were being removed is of no interest.
func (w *world) requests(namespace, account string) []*auditv1.Event {
	w.Helper()
	file, err := os.Open(w.audit)
	w.must(err)
	defer file.Close()
	var all []*auditv1.Event
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		event := &auditv1.Event{}
		if json.Unmarshal(lines.Bytes(), event) != nil {
			continue // the last line is being written
		}
		ours := event.User.Username == harness.AccountUser(namespace, account) && event.ObjectRef != nil
		if ours && event.RequestReceivedTimestamp.After(w.begun) {
			all = append(all, event)
			all = append(all, implied(event)...)
		}
	}
	w.must(lines.Err())
	return all
}

// implied are the rights that a request needs beyond its own: to list, for a watch that begins with a list, since an API server
// before Kubernetes 1.34 does not stream one; and to delete a Job, for a change of its owners, since the admission plug-in
// OwnerReferencesPermissionEnforcement asks for that (it is on here); and to patch an event, since that is how one is counted
// that comes again within some minutes; and to say on whose behalf a submission is, since the policy on-behalf asks for that.
func implied(event *auditv1.Event) []*auditv1.Event {
	also := event.DeepCopy()
	switch {
	case event.Verb == "watch" && strings.Contains(event.RequestURI, "sendInitialEvents=true"):
		also.Verb = "list"
	case event.Verb == "patch" && event.ObjectRef.Resource == "jobs":
		also.Verb = "delete"
	case event.Verb == "create" && event.ObjectRef.Resource == "events" && event.ObjectRef.APIGroup == "events.k8s.io":
		also.Verb = "patch"
	case event.Verb == "create" && event.ObjectRef.Resource == "tasksubmissions":
		also.Verb = "submit-on-behalf"
	default:
		return nil
	}
	return []*auditv1.Event{also}
}

// judge says what is wrong with rights in the light of what was asked for: a request that was refused, and a part of a right
// without which every request would have been allowed all the same. So whoever takes any part away is told.
func judge(grants []grant, requests []*auditv1.Event) []string {
	found := map[string]bool{}
	for _, e := range requests {
		if e.Annotations["authorization.k8s.io/decision"] == "forbid" {
			found[fmt.Sprintf("forbidden: %s %s/%s %s/%s", e.Verb, e.ObjectRef.Resource, e.ObjectRef.Subresource, e.ObjectRef.Namespace, e.ObjectRef.Name)] = true
		}
	}
	needed := map[grant]bool{}
	for _, e := range requests {
		var by []grant
		for _, g := range grants {
			if g.allows(e) {
				by = append(by, g)
			}
		}
		if len(by) == 1 {
			needed[by[0]] = true
		}
	}
	for _, g := range grants {
		if !needed[g] {
			found["not needed: "+g.String()] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// rightsAreExact waits until a service account has used each right that it has, and says whether it was refused anything.
func (w *world) rightsAreExact(namespace, account string) {
	w.Helper()
	var wrong []string
	_ = wait.PollUntilContextTimeout(w.Context(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		wrong = judge(w.grants(namespace, account), w.requests(namespace, account))
		return !strings.Contains(strings.Join(wrong, "\n"), "not needed"), nil
	}) // what is still wrong then is said
	for _, each := range wrong {
		w.Error(each)
	}
}
