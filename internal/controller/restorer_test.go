package controller_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var _ = Describe("The rights that are installed", func() {
	It("let nobody but the operator and a restorer write records", func() {
		w := newWorld()
		roles := &rbacv1.ClusterRoleList{}
		Expect(admin.List(ctx, roles)).To(Succeed())
		var installed []string
		for i := range roles.Items {
			if role := roles.Items[i].Name; strings.HasPrefix(role, "taskonce-") {
				installed = append(installed, role)
				w.bind(role, role, "holder-of-"+role)
			}
		}
		w.bind("last", "taskonce-restorer", "last") // bindings are seen in the order in which they were made
		Eventually(func() bool { return w.may("last", "create") }).Should(BeTrue())
		allowed := map[string][]string{}
		for _, role := range installed {
			for _, verb := range []string{"create", "update", "patch", "delete", "deletecollection"} {
				if w.may("holder-of-"+role, verb) {
					allowed[role] = append(allowed[role], verb)
				}
			}
		}
		Expect(installed).To(ContainElements("taskonce-viewer", "taskonce-submitter", "taskonce-approver", "taskonce-template-editor"))
		Expect(allowed).To(Equal(map[string][]string{
			"taskonce-manager-role": {"create", "update", "delete"}, "taskonce-restorer": {"create"},
		}))
	})
})

func (w *world) bind(name, role, user string) {
	GinkgoHelper()
	Expect(admin.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})).To(Succeed())
}

// may asks the API server what a user may do to records.
func (w *world) may(user, verb string) bool {
	GinkgoHelper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:               user,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Group: "taskonce.dev", Resource: "taskrecords", Namespace: w.namespace, Verb: verb},
	}}
	Expect(admin.Create(ctx, review)).To(Succeed())
	return review.Status.Allowed
}
