package admission_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
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
	reads atomic.Int64
	// crowd, where it is set, is how many have looked for the submission before a record is read.
	crowd *sync.WaitGroup
}

func (s *shelf) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	kept, ok := object.(*v1alpha1.TaskRecord)
	if !ok {
		if _, arrives := object.(*v1alpha1.TaskSubmission); arrives && s.crowd != nil {
			s.crowd.Done()
		}
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	s.reads.Add(1)
	if s.crowd != nil {
		s.crowd.Wait()
	}
	payload, err := v1alpha1.PayloadDigest(&s.spec)
	*kept = v1alpha1.TaskRecord{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Spec: v1alpha1.TaskRecordSpec{
		Type: v1alpha1.RecordIdempotencyKey, Key: "grant-42", Template: s.spec.TemplateRef.Name,
		Action: &v1alpha1.Action{PayloadDigest: payload, Phase: v1alpha1.PhaseSuccess, Reason: v1alpha1.ReasonApplied},
	}}
	return err
}

func TestAStampedeOnOneKeyReadsItsRecordOnceASecond(t *testing.T) {
	stepped := clocktesting.NewFakeClock(time.Unix(1_800_000_000, 0))
	there := &shelf{spec: awarding(1)}
	door := there.door(stepped)
	stampede := func(namespace string, points int) webhook.Response {
		t.Helper()
		var answer webhook.Response
		for range 100 {
			answer = door.Handle(t.Context(), createOf(t, namespace, "grant-42", awarding(points)))
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
		stepped.Step(tt.step)
		before := there.reads.Load()
		answer := stampede(tt.namespace, tt.points)
		if answer.Allowed != tt.allowed {
			t.Errorf("%s: allowed is %t: %+v", tt.reason, answer.Allowed, answer.Result)
		}
		if got := int(there.reads.Load() - before); got != tt.reads {
			t.Errorf("%s: %d reads, and not %d", tt.reason, got, tt.reads)
		}
	}
}

func TestAStampedeThatArrivesAtOnceReadsItsRecordOnce(t *testing.T) {
	const many = 50
	there := &shelf{spec: awarding(1), crowd: &sync.WaitGroup{}}
	door := there.door(clocktesting.NewFakeClock(time.Unix(1_800_000_000, 0)))
	there.crowd.Add(many)
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			if answer := door.Handle(t.Context(), createOf(t, "a", "grant-42", awarding(1))); !answer.Allowed || len(answer.Warnings) != 1 {
				t.Errorf("a duplicate is let through, with a word about the first: %+v", answer)
			}
		})
	}
	all.Wait()
	if got := there.reads.Load(); got != 1 {
		t.Errorf("%d asked at the same moment, and the record was read %d times", many, got)
	}
}

// door has nothing but the shelf behind it.
func (s *shelf) door(now clock.PassiveClock) *admission.Submissions {
	return &admission.Submissions{Cache: s, Live: s, Records: &record.Store{Client: s}, Clock: now, Recent: admission.NewRecent(now)}
}

func awarding(points int) v1alpha1.TaskSubmissionSpec {
	return v1alpha1.TaskSubmissionSpec{
		TemplateRef: v1alpha1.TemplateRef{Name: "award-points"},
		Parameters:  apiextensionsv1.JSON{Raw: fmt.Appendf(nil, `{"points":%d}`, points)},
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
