package submit_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/pkg/submit"
	"github.com/taskonce/taskonce/test/harness"
)

var plane *harness.ControlPlane

func TestMain(m *testing.M) {
	harness.Main(func() (code int, err error) {
		if plane, err = harness.Start(harness.Options{CRDs: true}); err != nil {
			return 1, err
		}
		code = m.Run()
		return code, plane.Stop()
	})
}

// world is a namespace, and a connection to the API server that nothing is wrong with.
type world struct {
	*testing.T
	namespace string
	api       client.WithWatch
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	namespace, err := plane.Namespace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, namespace: namespace}
	w.api = w.client(nil).API
	return w
}

// roundTrip is what becomes of one request: send sends it.
type roundTrip func(request *http.Request, send func() (*http.Response, error)) (*http.Response, error)

type transport struct {
	next http.RoundTripper
	act  roundTrip
}

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	return t.act(request, func() (*http.Response, error) { return t.next.RoundTrip(request) })
}

// client returns one whose requests go through a network of its own; nil: a good one.
func (w *world) client(network roundTrip) *submit.Client {
	w.Helper()
	config := rest.CopyConfig(plane.Config)
	if network != nil {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return transport{next, network} })
	}
	c, err := submit.Connect(config)
	if err != nil {
		w.Fatal(err)
	}
	c.MaxDelay = time.Millisecond
	return c
}

// action is one that a test varies.
func (w *world) action(edits ...func(*submit.Action)) submit.Action {
	action := submit.Action{
		Namespace: w.namespace, Key: "task:42:stu-7", Template: "award-points",
		Parameters: map[string]any{"taskId": 42, "price": 1.10, "none": nil},
	}
	for _, edit := range edits {
		edit(&action)
	}
	return action
}

func (w *world) prepare(c *submit.Client, edits ...func(*submit.Action)) *submit.Submission {
	w.Helper()
	s, err := c.Prepare(w.action(edits...))
	if err != nil {
		w.Fatal(err)
	}
	return s
}

func (w *world) submit(s *submit.Submission) submit.Receipt {
	w.Helper()
	receipt, err := s.Submit(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	if s.State() != submit.Submitted {
		w.Fatalf("it is %s", s.State())
	}
	return receipt
}

// there returns the submissions in the namespace.
func (w *world) there() []v1alpha1.TaskSubmission {
	w.Helper()
	list := &v1alpha1.TaskSubmissionList{}
	if err := w.api.List(w.Context(), list, client.InNamespace(w.namespace)); err != nil {
		w.Fatal(err)
	}
	return list.Items
}

// finish has a submission end, as the operator would.
func (w *world) finish(submission *v1alpha1.TaskSubmission, phase v1alpha1.Phase) {
	w.Helper()
	w.judge(submission, phase, v1alpha1.ReasonApplied)
}

// judge has a submission stand so, as the operator would.
func (w *world) judge(submission *v1alpha1.TaskSubmission, phase v1alpha1.Phase, reason v1alpha1.Reason) {
	w.Helper()
	if err := w.setPhase(w.Context(), submission, phase, reason); err != nil {
		w.Error(err)
	}
}

func (w *world) setPhase(ctx context.Context, submission *v1alpha1.TaskSubmission, phase v1alpha1.Phase, reason v1alpha1.Reason) error {
	live := &v1alpha1.TaskSubmission{}
	if err := w.api.Get(ctx, client.ObjectKeyFromObject(submission), live); err != nil {
		return err
	}
	live.Status = v1alpha1.TaskSubmissionStatus{Phase: phase, Reason: reason, ObservedGeneration: live.Generation}
	return w.api.Status().Update(ctx, live)
}
