package controller_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
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
)

func TestController(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "controller")
}

var _ = BeforeSuite(func() {
	SetDefaultEventuallyTimeout(20 * time.Second)
	SetDefaultEventuallyPollingInterval(10 * time.Millisecond)
	EnforceDefaultTimeoutsWhenUsingContexts()
	ctrl.SetLogger(logr.Discard())
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))

	var err error
	plane, err = harness.Start(harness.Options{CRDs: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return plane.Stop() })
	admin, err = client.New(plane.Config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())

	kubeconfig, err := plane.ManagerKubeconfig(context.Background())
	Expect(err).NotTo(HaveOccurred())
	managerConfig, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	managerConfig.QPS = -1
	managerClient, err = client.NewWithWatch(managerConfig, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
})
