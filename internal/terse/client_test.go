package terse_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/terse"
	"github.com/taskonce/taskonce/test/harness"
)

var (
	plane *harness.ControlPlane
	// config has the manager's own rights.
	config *rest.Config
)

func TestMain(m *testing.M) {
	harness.Main(func() (code int, err error) {
		if plane, err = harness.Start(harness.Options{CRDs: true}); err != nil {
			return 1, err
		}
		defer func() { err = errors.Join(err, plane.Stop()) }()
		kubeconfig, err := plane.ManagerKubeconfig(context.Background())
		if err != nil {
			return 1, err
		}
		if config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
			return 1, err
		}
		return m.Run(), nil
	})
}

// world is a namespace, a client under test, and what the API server answered it.
type world struct {
	t         *testing.T
	namespace string
	client    client.Client
	admin     client.Client
	answers   *answers
}

func newWorld(t *testing.T) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	w := &world{t: t, answers: &answers{}}
	var err error
	w.namespace, err = plane.Namespace(t.Context())
	w.must(err)
	w.admin, err = client.New(plane.Config, client.Options{Scheme: scheme})
	w.must(err)
	config := rest.CopyConfig(config)
	config.UserAgent = "manager/test"
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { w.answers.next = next; return w.answers })
	connection, err := rest.HTTPClientFor(config)
	w.must(err)
	w.client, err = terse.NewClient(config, client.Options{Scheme: scheme, HTTPClient: connection})
	w.must(err)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// answers notes the last answer of the API server. It may drop what is asked for, as a proxy might.
type answers struct {
	next  http.RoundTripper
	whole bool
	body  string
}

func (a *answers) RoundTrip(request *http.Request) (*http.Response, error) {
	if a.whole {
		request = request.Clone(request.Context())
		request.Header.Set("Accept", "application/json")
	}
	response, err := a.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(text))
	a.body = string(text)
	return response, err
}

// stored fails where what is in memory is not what is stored.
func (w *world) stored(object, fresh client.Object, why string) {
	w.t.Helper()
	w.must(w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(object), fresh))
	object, fresh = bare(object), bare(fresh)
	if !equality.Semantic.DeepEqual(object, fresh) {
		w.t.Errorf("%s: in memory is\n%+v\nand stored is\n%+v", why, object, fresh)
	}
	if strings.Contains(w.answers.body, "never sent back") || !strings.Contains(w.answers.body, "PartialObjectMetadata") {
		w.t.Errorf("%s: the answer was to be metadata alone, and is\n%q", why, w.answers.body)
	}
}

func bare(object client.Object) client.Object {
	object = object.DeepCopyObject().(client.Object)
	object.GetObjectKind().SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(""))
	object.SetManagedFields(nil)
	return object
}

func (w *world) record(name string) *v1alpha1.TaskRecord {
	started := metav1.NewMicroTime(time.Unix(1_800_000_000, 123_456_000))
	return &v1alpha1.TaskRecord{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name, Labels: map[string]string{v1alpha1.LabelDue: "1800000000"}},
		Spec: v1alpha1.TaskRecordSpec{Type: v1alpha1.RecordIdempotencyKey, Key: "never sent back", Template: "award-points", Action: &v1alpha1.Action{
			PayloadDigest: "sha256:payload", Submission: v1alpha1.SubmissionRef{Name: "stu-7", UID: "u"},
			Phase: v1alpha1.PhaseProcessing, Reason: v1alpha1.ReasonExecuting,
			Attempt: v1alpha1.Attempt{Number: 1, StartedAt: &started, Timeout: metav1.Duration{Duration: 90 * time.Second}, Executor: "me"},
		}},
	}
}

func TestARecordIsWhatIsStored(t *testing.T) {
	w := newWorld(t)
	record := w.record("created")
	w.must(w.client.Create(t.Context(), record))
	w.stored(record, &v1alpha1.TaskRecord{}, "after the create")
	if record.UID == "" || record.ResourceVersion == "" || record.CreationTimestamp.IsZero() {
		t.Errorf("the API server's own metadata is missing: %+v", record.ObjectMeta)
	}
	first := record.DeepCopy()
	record.Spec.Action.Phase, record.Spec.Action.Attempt.Outcome = v1alpha1.PhaseSuccess, v1alpha1.OutcomeApplied
	record.Spec.Action.Reason = v1alpha1.ReasonApplied
	record.Labels = nil
	w.must(w.client.Update(t.Context(), record))
	w.stored(record, &v1alpha1.TaskRecord{}, "after the update")

	if err := w.client.Update(t.Context(), first); !apierrors.IsConflict(err) {
		t.Errorf("an update of what somebody else has written must be a conflict, and is: %v", err)
	}
	if first.ResourceVersion == record.ResourceVersion {
		t.Error("a refused update took metadata over")
	}
}

func TestAProxyMayDropWhatIsAskedFor(t *testing.T) {
	w := newWorld(t)
	w.answers.whole = true
	record := w.record("whole")
	w.must(w.client.Create(t.Context(), record))
	if !strings.Contains(w.answers.body, "never sent back") {
		t.Fatalf("the answer was to be the whole object, and is %q", w.answers.body)
	}
	kept := &v1alpha1.TaskRecord{}
	w.must(w.admin.Get(t.Context(), client.ObjectKeyFromObject(record), kept))
	if record.UID != kept.UID || record.ResourceVersion != kept.ResourceVersion {
		t.Errorf("in memory is %+v, and stored is %+v", record.ObjectMeta, kept.ObjectMeta)
	}
}

func TestARefusalSaysWhy(t *testing.T) {
	w := newWorld(t)
	record := w.record("there")
	w.must(w.client.Create(t.Context(), record.DeepCopy()))
	if err := w.client.Create(t.Context(), record); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second create must be refused as such, and is: %v", err)
	}
	invalid := w.record("invalid")
	invalid.Spec.Action = nil
	if err := w.client.Create(t.Context(), invalid); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "has an action") {
		t.Errorf("what the kind's rules refuse must say which rule, and is: %v", err)
	}
	gone := w.record("gone")
	gone.ResourceVersion = "1"
	if err := w.client.Update(t.Context(), gone); !apierrors.IsNotFound(err) {
		t.Errorf("an update of what is not there must say so, and is: %v", err)
	}
}

func TestASubmissionsStatusIsWhatIsStored(t *testing.T) {
	w := newWorld(t)
	submission := &v1alpha1.TaskSubmission{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "stu-7", Labels: map[string]string{"class": "7b"}},
		Spec: v1alpha1.TaskSubmissionSpec{
			TemplateRef: v1alpha1.TemplateRef{Name: "award-points"},
			Parameters:  apiextensionsv1.JSON{Raw: []byte(`{"studentId":"never sent back"}`)},
		},
	}
	w.must(w.admin.Create(t.Context(), submission))
	of := submission.DeepCopy()
	submission.Labels = map[string]string{"class": "7c"} // is nobody's to change by a status
	now := metav1.NewTime(time.Unix(1_800_000_000, 0))
	submission.Status.Phase, submission.Status.Reason, submission.Status.CompletedAt = v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied, &now
	w.must(w.client.Status().Update(t.Context(), submission))
	w.stored(submission, &v1alpha1.TaskSubmission{}, "after the status")

	if err := w.client.Status().Update(t.Context(), of); !apierrors.IsConflict(err) {
		t.Errorf("a status for what somebody else has written must be a conflict, and is: %v", err)
	}
	other := submission.DeepCopy()
	other.UID = "another"
	if err := w.client.Status().Update(t.Context(), other); !apierrors.IsConflict(err) {
		t.Errorf("a status for another object of that name must be a conflict, and is: %v", err)
	}
}
