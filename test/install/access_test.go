package install_test

import (
	"context"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// mayWhatThePageSays binds each role of the table in docs/security.md to somebody, asks the API server about each cell, as
// that person, and compares.
func (w *world) mayWhatThePageSays() {
	w.Helper()
	w.follow("docs/security.md", "Roles")
	w.mayBy("system:serviceaccount:school:app", submitting("school"))
	roles, rows := table(w.read("docs/security.md"), "| may | ")
	namespace := w.newNamespace()
	var script strings.Builder
	for _, role := range roles {
		name := "taskonce-" + role
		if role == "view" || role == "edit" || role == "admin" {
			name = role
		}
		script.WriteString("kubectl create rolebinding " + role + " -n " + namespace + " --clusterrole=" + name + " --user=" + role + "\n")
	}
	script.WriteString("kubectl create rolebinding last -n " + namespace + " --clusterrole=taskonce-submitter --user=last\n")
	w.sh(script.String())
	w.mayBy("last", submitting(namespace)) // bindings are heard of in the order in which they were made
	for _, row := range rows {
		verb, resource, _ := strings.Cut(strings.Trim(row[0], "`"), " ")
		resource, subresource, _ := strings.Cut(resource, "/")
		right := authorizationv1.ResourceAttributes{Namespace: namespace, Group: v1alpha1.GroupVersion.Group, Resource: resource, Subresource: subresource, Verb: verb}
		for j, role := range roles {
			got := map[bool]string{true: "yes", false: "no"}[w.may(role, authorizationv1.SubjectAccessReviewSpec{ResourceAttributes: &right})]
			if want := row[j+1]; got != want {
				w.Errorf("may %s %s? the API server says %s, and docs/security.md %s", role, row[0], got, want)
			}
		}
	}
}

// may asks the API server whether somebody may do something.
func (w *world) may(user string, right authorizationv1.SubjectAccessReviewSpec) bool {
	w.Helper()
	right.User, right.Groups = user, []string{"system:authenticated"}
	review := &authorizationv1.SubjectAccessReview{Spec: right}
	w.must(w.client.Create(w.Context(), review))
	return review.Status.Allowed
}

// mayBy waits until somebody may do something: the API server hears of a binding a moment after it was made.
func (w *world) mayBy(user string, right authorizationv1.SubjectAccessReviewSpec) {
	w.Helper()
	w.await(user+" has the right that was granted", func(context.Context) (bool, error) { return w.may(user, right), nil })
}

// mayReadMetrics waits until the account prometheus may. Whoever asks too early is told no for half a minute.
func (w *world) mayReadMetrics() {
	w.Helper()
	w.mayBy("system:serviceaccount:monitoring:prometheus", authorizationv1.SubjectAccessReviewSpec{
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"},
	})
}

// submitting is the right to.
func submitting(namespace string) authorizationv1.SubjectAccessReviewSpec {
	return authorizationv1.SubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
		Namespace: namespace, Group: v1alpha1.GroupVersion.Group, Resource: "tasksubmissions", Verb: "create",
	}}
}

// table returns the columns, but for the first one, and the rows of the table of a page that begins so.
func table(page, begin string) (columns []string, rows [][]string) {
	_, rest, _ := strings.Cut(page, "\n"+begin)
	head, rest, _ := strings.Cut(rest, "\n")
	columns = cells(head)
	for line := range strings.SplitSeq(rest, "\n") {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if row := cells(line); !strings.HasPrefix(row[0], "---") {
			rows = append(rows, row)
		}
	}
	return columns, rows
}

func cells(line string) []string {
	all := strings.Split(strings.Trim(line, "| "), "|")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// lastLine is the last one that a script printed, and not the shell's own.
func lastLine(text string) (last string) {
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if !strings.HasPrefix(line, "+ ") {
			last = line
		}
	}
	return last
}
