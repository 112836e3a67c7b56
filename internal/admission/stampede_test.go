package admission_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	webhook "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/admission"
	"github.com/taskonce/taskonce/internal/record"
)

// shelf has the record of one action that was carried out, and counts who reads it.
type shelf struct {
	client.Client
	spec  v1alpha1.TaskSubmissionSpec
	reads int
}

func (s *shelf) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	kept, ok := object.(*v1alpha1.TaskRecord)
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	s.reads++
	payload, err := v1alpha1.PayloadDigest(&s.spec)
	*kept = v1alpha1.TaskRecord{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Spec: v1alpha1.TaskRecordSpec{
		Type: v1alpha1.RecordIdempotencyKey, Key: "grant-42", Template: s.spec.TemplateRef.Name,
		Action: &v1alpha1.Action{PayloadDigest: payload, Phase: v1alpha1.PhaseSuccess, Reason: v1alpha1.ReasonApplied},
	}}
	return err
}

func TestAStampedeOnOneKeyReadsItsRecordOnceASecond(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(1_800_000_000, 0))
	of := func(points int) v1alpha1.TaskSubmissionSpec {
		return v1alpha1.TaskSubmissionSpec{
			TemplateRef: v1alpha1.TemplateRef{Name: "award-points"},
			Parameters:  apiextensionsv1.JSON{Raw: fmt.Appendf(nil, `{"points":%d}`, points)},
		}
	}
	there := &shelf{spec: of(1)}
	door := &admission.Submissions{Cache: there, Live: there, Records: &record.Store{Client: there}, Clock: clock, Recent: admission.NewRecent(clock)}
	stampede := func(namespace string, points int) webhook.Response {
		t.Helper()
		var answer webhook.Response
		for range 100 {
			answer = door.Handle(t.Context(), createOf(t, namespace, "grant-42", of(points)))
		}
		return answer
	}
	for _, tt := range []struct {
		reason    string
		namespace string
		points    int
		step      time.Duration
		reads     int
		allowed   bool
	}{
		{"the first one asks, and the others are told what it heard", "a", 1, 0, 1, true},
		{"the answer is still good", "a", 1, time.Second, 0, true},
		{"it is asked anew", "a", 1, 1, 1, true},
		{"a key is of its namespace", "b", 1, 0, 1, true},
		{"a refusal is asked for each time: it may not rest on what was", "a", 2, 0, 100, false},
	} {
		clock.Step(tt.step)
		before := there.reads
		answer := stampede(tt.namespace, tt.points)
		if answer.Allowed != tt.allowed {
			t.Errorf("%s: allowed is %t: %+v", tt.reason, answer.Allowed, answer.Result)
		}
		if got := there.reads - before; got != tt.reads {
			t.Errorf("%s: %d reads, and not %d", tt.reason, got, tt.reads)
		}
	}
}

func createOf(t *testing.T, namespace, name string, spec v1alpha1.TaskSubmissionSpec) webhook.Request {
	t.Helper()
	submission := &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: spec}
	raw, err := json.Marshal(submission)
	if err != nil {
		t.Fatal(err)
	}
	return webhook.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Namespace: namespace, Name: name, Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: raw},
	}}
}
