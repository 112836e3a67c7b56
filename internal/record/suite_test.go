package record_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/record"
	"github.com/taskonce/taskonce/test/harness"
)

var (
	ctx   = context.Background()
	plane *harness.ControlPlane
	// live writes with the manager's own rights, past any cache.
	live client.WithWatch
)

func TestRecord(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "record")
}

var _ = BeforeSuite(func() {
	scheme := runtime.NewScheme()
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	var err error
	plane, err = harness.Start(harness.Options{CRDs: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return plane.Stop() })
	kubeconfig, err := plane.ManagerKubeconfig(ctx)
	Expect(err).NotTo(HaveOccurred())
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	config.QPS = -1
	live, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
})

// world is a namespace with a store.
type world struct {
	namespace string
	store     *record.Store
}

func newWorld() *world {
	GinkgoHelper()
	namespace, err := plane.Namespace(ctx)
	Expect(err).NotTo(HaveOccurred())
	return &world{namespace: namespace, store: &record.Store{Client: live}}
}

// begun is an action in the middle of its first attempt.
func begun() v1alpha1.Action {
	started := metav1.NewMicroTime(time.Unix(1_800_000_000, 0))
	return v1alpha1.Action{
		PayloadDigest: "sha256:payload", Submission: v1alpha1.SubmissionRef{Name: "a", UID: "u"},
		Phase: v1alpha1.PhaseProcessing, Reason: v1alpha1.ReasonExecuting,
		Attempt: v1alpha1.Attempt{Number: 1, StartedAt: &started, Timeout: metav1.Duration{Duration: 30 * time.Second}, Executor: "me"},
	}
}

func ended(phase v1alpha1.Phase, reason v1alpha1.Reason) v1alpha1.Action {
	action := begun()
	action.Phase, action.Reason = phase, reason
	action.Attempt.Outcome = v1alpha1.OutcomeNotApplied
	return action
}

// claiming is an action with a business key.
func claiming(action v1alpha1.Action) v1alpha1.Action {
	action.BusinessKey, action.Claim = "7", v1alpha1.ClaimName("work", "7")
	return action
}

func (w *world) create(key string, action v1alpha1.Action) *v1alpha1.TaskRecord {
	GinkgoHelper()
	created, err := w.store.Create(ctx, w.namespace, key, "work", action, time.Time{})
	Expect(err).NotTo(HaveOccurred())
	return created
}
