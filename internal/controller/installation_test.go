package controller_test

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/internal/controller"
)

// oneLine matches an error that says in one line what is missing and how to mend it.
func oneLine(parts ...string) OmegaMatcher {
	matchers := []OmegaMatcher{HaveOccurred(), WithTransform(error.Error, Not(ContainSubstring("\n")))}
	for _, part := range parts {
		matchers = append(matchers, MatchError(ContainSubstring(part)))
	}
	return And(matchers...)
}

var _ = Describe("The check of the installation", func() {
	check := func(config *rest.Config) error { return controller.CheckInstallation(ctx, config, scheme, nil) }

	// account is one with the rights of some rules everywhere.
	account := func(name string, rules ...rbacv1.PolicyRule) *rest.Config {
		GinkgoHelper()
		meta := metav1.ObjectMeta{Namespace: "default", Name: name}
		for _, object := range []client.Object{
			&corev1.ServiceAccount{ObjectMeta: meta},
			&rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules},
			&rbacv1.ClusterRoleBinding{
				ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
				Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: name}},
			},
		} {
			Expect(admin.Create(ctx, object)).To(Succeed())
		}
		answer := &authenticationv1.TokenRequest{}
		Expect(admin.SubResource("token").Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, answer)).To(Succeed())
		config := rest.AnonymousClientConfig(plane.Config)
		config.BearerToken, config.QPS = answer.Status.Token, -1
		return config
	}

	It("has nothing to say to the manager's own account", func() {
		Expect(check(managerConfig)).To(Succeed())
	})

	It("names the rights that an account lacks", func() {
		nobody := account("nobody")
		Expect(check(nobody)).To(oneLine("lacks rights", "create taskrecords", "update tasksubmissions/status", "get secrets", "patch events", "config/rbac"))
		few := []string{"default", "kube-system"}
		Expect(controller.CheckInstallation(ctx, nobody, scheme, few)).To(oneLine("create taskrecords in default", "get secrets in kube-system"))
	})

	It("names just the one that was taken away", func() {
		beyond := []controller.Right{
			{Namespace: "default", Group: "coordination.k8s.io", Resource: "leases", Verbs: "get update"},
			{Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations", Name: "ours", Verbs: "update"},
		}
		var rules []rbacv1.PolicyRule
		for _, right := range controller.Rights(nil, beyond...) {
			rule := rbacv1.PolicyRule{APIGroups: []string{right.Group}, Resources: []string{strings.Trim(right.Resource+"/"+right.Subresource, "/")}, Verbs: strings.Fields(right.Verbs)}
			if right.Name != "" {
				rule.ResourceNames = []string{right.Name}
			}
			rules = append(rules, rule)
		}
		all := account("all", rules...)
		ask := func() error { return controller.CheckInstallation(ctx, all, scheme, nil, beyond...) }
		Eventually(ask).Should(Succeed())
		role := &rbacv1.ClusterRole{}
		Expect(admin.Get(ctx, client.ObjectKey{Name: "all"}, role)).To(Succeed())
		for i, missing := range map[int]string{
			len(rules) - 3: "create events, patch events", len(rules) - 2: "get leases in default, update leases in default", len(rules) - 1: "update mutatingwebhookconfigurations ours",
		} {
			role.Rules = slices.Delete(slices.Clone(rules), i, i+1)
			Expect(admin.Update(ctx, role)).To(Succeed())
			Eventually(ask).Should(oneLine("lacks rights (" + missing + "):"))
		}
	})

	It("names a kind that is not installed", func() {
		Expect(errBare).To(oneLine("TaskSubmission", "is not installed", "config/crd"))
	})

	It("says that the API server is too old, or the kinds are, where it does not select", func() {
		version, err := discovery.NewDiscoveryClientForConfigOrDie(plane.Config).ServerVersion()
		Expect(err).NotTo(HaveOccurred())
		Expect(errUnselectable).To(oneLine(version.GitVersion, "does not select", controller.OldestKubernetes+" or later", "config/crd", "status.phase"))
	})

	It("says that the API server cannot be reached", func() {
		gone := rest.CopyConfig(managerConfig)
		gone.Host = "https://127.0.0.1:1"
		Expect(check(gone)).To(oneLine("cannot be"))
	})
})
