package controller_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/controller"
	"github.com/taskonce/taskonce/internal/terse"
	"github.com/taskonce/taskonce/test/harness"
)

var (
	plane *harness.ControlPlane
	// admin is who installs, submits, decides and looks.
	admin client.Client
	// managerConfig authenticates as the manager's own service account, with the rights that it is installed with.
	managerConfig *rest.Config
	managerClient client.WithWatch
	scheme        = runtime.NewScheme()
	// errBare is what the check of the installation said before the kinds were installed, and errUnselectable where what they
	// say of selectable fields was dropped, as an old API server does.
	errBare, errUnselectable error
)

func TestController(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "controller")
}

var _ = BeforeSuite(func() {
	SetDefaultEventuallyTimeout(90 * time.Second) // of a machine that is busy
	SetDefaultEventuallyPollingInterval(10 * time.Millisecond)
	EnforceDefaultTimeoutsWhenUsingContexts()
	ctrl.SetLogger(logr.Discard())
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))

	var err error
	plane, err = harness.Start(harness.Options{Controllers: []string{"job-controller", "garbage-collector-controller"}})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return plane.Stop() })
	kubeconfig, err := plane.ManagerKubeconfig(ctx)
	Expect(err).NotTo(HaveOccurred())
	managerConfig, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	managerConfig.QPS = -1
	check := func() error {
		return controller.CheckInstallation(ctx, managerConfig, scheme, nil)
	}
	errBare = check()
	install(func(version *apiextensionsv1.CustomResourceDefinitionVersion) { version.SelectableFields = nil })
	errUnselectable = check()
	install(func(*apiextensionsv1.CustomResourceDefinitionVersion) {})
	Eventually(check).Should(Succeed())
	admin, err = client.New(plane.Config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	connection, err := rest.HTTPClientFor(managerConfig)
	Expect(err).NotTo(HaveOccurred())
	managerClient, err = newWatching(managerConfig, client.Options{Scheme: scheme, HTTPClient: connection})
	Expect(err).NotTo(HaveOccurred())
})

// watching writes as the manager does, and watches.
type watching struct {
	*terse.Client
	inner client.WithWatch
}

func (w watching) Watch(ctx context.Context, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
	return w.inner.Watch(ctx, list, options...)
}

func newWatching(config *rest.Config, options client.Options) (client.WithWatch, error) {
	inner, err := client.NewWithWatch(config, options)
	if err != nil {
		return nil, err
	}
	writes, err := terse.New(config, options.HTTPClient, inner)
	return watching{writes, inner}, err
}

// install installs the kinds, changed.
func install(change func(*apiextensionsv1.CustomResourceDefinitionVersion)) {
	GinkgoHelper()
	options := envtest.CRDInstallOptions{Paths: []string{"../../config/crd/bases"}, ErrorIfPathMissing: true}
	Expect(envtest.ReadCRDFiles(&options)).To(Succeed())
	for _, kind := range options.CRDs {
		for i := range kind.Spec.Versions {
			change(&kind.Spec.Versions[i])
		}
	}
	_, err := envtest.InstallCRDs(plane.Config, envtest.CRDInstallOptions{CRDs: options.CRDs, MaxTime: time.Minute})
	Expect(err).NotTo(HaveOccurred())
}
