package admission_test

import (
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/taskonce/taskonce/internal/admission"
	"github.com/taskonce/taskonce/internal/admission/certificate"
	"github.com/taskonce/taskonce/internal/controller"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/httpcall"
	"github.com/taskonce/taskonce/internal/effect/job"
	"github.com/taskonce/taskonce/internal/record"
	"github.com/taskonce/taskonce/test/harness"
)

// webhookHost is what the API server calls the webhooks by.
const webhookHost = "taskonce-webhook-service." + harness.ManagerNamespace + ".svc"

// doorkeeper serves the webhooks of an operator that runs all the time, and can be stopped without it.
type doorkeeper struct {
	host    string
	port    int
	keeper  *certificate.Keeper
	serving atomic.Pointer[tls.Certificate] // in place of the keeper's
	reads   *countingReader

	submissions *admission.Submissions
	decisions   *admission.Decisions
	templates   *admission.Templates
	shut        func()
}

// startOperator starts reconcilers with the manager's rights, and installs what admission consists of.
func startOperator() *doorkeeper {
	GinkgoHelper()
	address, err := harness.UnusedAddress()
	Expect(err).NotTo(HaveOccurred())
	Expect(plane.InstallAdmission(ctx, address)).To(Succeed())
	mgr, err := ctrl.NewManager(managerConfig, ctrl.Options{
		Scheme: scheme, Cache: controller.CacheOptions(nil), Client: controller.ClientOptions(),
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	Expect(err).NotTo(HaveOccurred())
	compilers := effect.Compilers{
		HTTP: httpcall.New(httpcall.Options{AllowLoopback: true, Secret: secretOf(mgr.GetClient())}),
		Job:  job.New(job.Options{Client: mgr.GetClient(), Cache: mgr.GetCache()}),
	}
	plans := controller.NewPlans(compilers)
	receivers := controller.NewReceivers(clock.RealClock{})
	op := &controller.Submissions{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Records: &record.Store{Client: mgr.GetClient()},
		Plans: plans, Receivers: receivers, Executor: "admission-suite", Clock: clock.RealClock{},
	}
	op.Init(100)
	Expect(op.SetupWithManager(mgr, 4, 5*time.Second)).To(Succeed())
	Expect((&controller.Templates{Client: mgr.GetClient(), Plans: plans, Receivers: receivers}).SetupWithManager(mgr)).To(Succeed())
	Expect(mgr.Add(&controller.DueLoop{Submissions: op, Interval: 200 * time.Millisecond})).To(Succeed())

	uncached, err := client.New(managerConfig, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	host, text, err := net.SplitHostPort(address)
	Expect(err).NotTo(HaveOccurred())
	port, err := strconv.Atoi(text)
	Expect(err).NotTo(HaveOccurred())
	reads := &countingReader{Client: uncached}
	d := &doorkeeper{host: host, port: port, reads: reads,
		keeper: &certificate.Keeper{
			Client: uncached, Secret: types.NamespacedName{Namespace: harness.ManagerNamespace, Name: "taskonce-webhook-cert"},
			Host: webhookHost, Configurations: "taskonce-admission", Lifetime: certificate.Lifetime, Clock: clock.RealClock{},
		},
		submissions: &admission.Submissions{
			Cache: mgr.GetClient(), Live: reads, Records: &record.Store{Client: reads}, Plans: plans,
			Clock: clock.RealClock{}, Recent: admission.NewRecent(clock.RealClock{}),
		},
		decisions: &admission.Decisions{Cache: mgr.GetClient(), Live: reads, Plans: plans},
		templates: &admission.Templates{Compilers: compilers, Reviewer: mgr.GetClient()},
	}
	running, cancel := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(running) }()
	DeferCleanup(func() {
		cancel()
		Eventually(stopped).Should(Receive(BeNil()))
	})
	Expect(mgr.GetCache().WaitForCacheSync(ctx)).To(BeTrue())
	Expect(d.keeper.Look(ctx)).To(Succeed())
	return d
}

// open serves, and returns when the API server calls.
func (d *doorkeeper) open() {
	GinkgoHelper()
	server := webhook.NewServer(webhook.Options{Host: d.host, Port: d.port, TLSOpts: []func(*tls.Config){func(config *tls.Config) {
		config.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if other := d.serving.Load(); other != nil {
				return other, nil
			}
			return d.keeper.GetCertificate(hello)
		}
	}}})
	admission.Register(server, d.submissions, d.decisions, d.templates)
	running, cancel := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- server.Start(running) }()
	d.shut = func() {
		cancel()
		Eventually(stopped).Should(Receive(BeNil()))
	}
	if d.serving.Load() != nil {
		Eventually(func() error { return server.StartedChecker()(nil) }).Should(Succeed())
		return
	}
	namespace := newNamespace()
	Eventually(func() string {
		_, said := kubectl(namespace, submission{name: "Upper", template: "none"}.manifest(), "create", "--dry-run=server", "-f", "-")
		return said
	}).Should(ContainSubstring("InvalidName"), "the webhook is not called")
}

// close stops serving, as a crash of every replica would.
func (d *doorkeeper) close() {
	if d.shut != nil {
		d.shut()
		d.shut = nil
	}
}

// countingReader counts what the webhooks read past the cache.
type countingReader struct {
	client.Client
	n atomic.Int32
}

func (c *countingReader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	c.n.Add(1)
	return c.Client.Get(ctx, key, object, options...)
}

func secretOf(reader client.Reader) effect.SecretReader {
	return func(ctx context.Context, namespace, name string) (map[string][]byte, error) {
		secret := &corev1.Secret{}
		if err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret); err != nil {
			return nil, effect.Missing("%v", err)
		}
		return secret.Data, nil
	}
}
