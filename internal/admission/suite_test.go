package admission_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
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
	ctx   = context.Background()
	plane *harness.ControlPlane
	// admin is who installs and looks.
	admin client.Client
	// managerConfig authenticates as the manager's own service account.
	managerConfig *rest.Config
	scheme        = runtime.NewScheme()
	// receiver counts what leaves the operator.
	receiver *counting
	door     *doorkeeper
)

func TestAdmission(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "admission")
}

var _ = BeforeSuite(func() {
	SetDefaultEventuallyTimeout(90 * time.Second) // of a machine that is busy
	SetDefaultEventuallyPollingInterval(20 * time.Millisecond)
	ctrl.SetLogger(logr.Discard())
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))

	var err error
	plane, err = harness.Start(harness.Options{CRDs: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return plane.Stop() })
	admin, err = client.New(plane.Config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	kubeconfig, err := plane.ManagerKubeconfig(ctx)
	Expect(err).NotTo(HaveOccurred())
	managerConfig, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	managerConfig.QPS = -1

	receiver = &counting{effects: map[string]int{}}
	server := httptest.NewServer(receiver)
	DeferCleanup(server.Close)
	receiver.url = server.URL
	door = startOperator()
	door.open()
	DeferCleanup(func() { door.close() })
})

// counting is a receiver that applies everything, and counts by idempotency key.
type counting struct {
	url string

	mu      sync.Mutex
	effects map[string]int
}

func (c *counting) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.effects[request.Header.Get("Idempotency-Key")]++
	response.Header().Set("Content-Type", "application/json")
	_, _ = response.Write([]byte(`{"done":true}`))
}

// of returns how often a submission's effect has happened.
func (c *counting) of(namespace, name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.effects[`"`+namespace+"/"+name+`"`]
}

// in returns how many effects have happened in a namespace.
func (c *counting) in(namespace string) (all int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, n := range c.effects {
		if strings.HasPrefix(key, `"`+namespace+"/") {
			all += n
		}
	}
	return all
}
