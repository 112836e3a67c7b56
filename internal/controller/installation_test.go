package controller_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

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
	check := func(config *rest.Config) error {
		return controller.CheckInstallation(ctx, config, scheme, controller.Needs{Reviews: true})
	}

	It("has nothing to say to the manager's own account", func() {
		Expect(check(managerConfig)).To(Succeed())
	})

	It("names the rights that an account lacks", func() {
		clients, err := kubernetes.NewForConfig(plane.Config)
		Expect(err).NotTo(HaveOccurred())
		accounts := clients.CoreV1().ServiceAccounts("default")
		_, err = accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "nobody"}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		answer, err := accounts.CreateToken(ctx, "nobody", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		nobody := rest.AnonymousClientConfig(plane.Config)
		nobody.BearerToken = answer.Status.Token
		Expect(check(nobody)).To(oneLine("lacks rights", "create taskrecords", "update tasksubmissions/status", "get secrets", "create subjectaccessreviews", "config/rbac"))
		few := controller.Needs{Namespaces: []string{"default", "kube-system"}}
		Expect(controller.CheckInstallation(ctx, nobody, scheme, few)).To(oneLine("create taskrecords in default", "get secrets in kube-system"))
		Expect(controller.CheckInstallation(ctx, nobody, scheme, few)).NotTo(MatchError(ContainSubstring("subjectaccessreviews")))
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
