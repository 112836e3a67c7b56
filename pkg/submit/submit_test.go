package submit_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/pkg/submit"
)

func TestFirstAndDuplicate(t *testing.T) {
	w := newWorld(t)
	first := w.prepare(w.client(nil))
	if first.State() != submit.Idle {
		t.Fatalf("prepared it is %s", first.State())
	}
	receipt := w.submit(first)
	if receipt.Answer != submit.First || receipt.Object.UID == "" || receipt.Object.Name != first.Name() {
		t.Fatalf("the first: %s", receipt.Answer)
	}
	if again := w.submit(first); again.Answer != submit.First || again.Object.UID != receipt.Object.UID {
		t.Errorf("the same Submission, again: %s", again.Answer)
	}
	duplicate := w.submit(w.prepare(w.client(nil), func(a *submit.Action) {
		a.Parameters = map[string]any{"none": nil, "price": 1.1, "taskId": 42.0} // the same, written otherwise
	}))
	if duplicate.Answer != submit.Duplicate || duplicate.Object.UID != receipt.Object.UID {
		t.Errorf("a duplicate: %s", duplicate.Answer)
	}
}

func TestAnotherPayload(t *testing.T) {
	w := newWorld(t)
	w.judge(w.submit(w.prepare(w.client(nil))).Object, v1alpha1.PhasePending, v1alpha1.ReasonAwaitingApproval)
	for reason, edit := range map[string]func(*submit.Action){
		"parameters": func(a *submit.Action) { a.Parameters = map[string]any{"taskId": 43} },
		"none":       func(a *submit.Action) { a.Parameters = nil },
		"template":   func(a *submit.Action) { a.Template = "other" },
	} {
		s := w.prepare(w.client(nil), edit)
		_, err := s.Submit(t.Context())
		var other *submit.OtherPayloadError
		if !errors.As(err, &other) || other.Existing.Name != s.Name() || s.State() != submit.Idle {
			t.Errorf("%s: %s, %v", reason, s.State(), err)
		}
	}
	// A lost answer does not make another's object this client's own.
	s := w.prepare(w.client(on(http.MethodPost, cut)), func(a *submit.Action) { a.Template = "other" })
	var other *submit.OtherPayloadError
	if _, err := s.Submit(t.Context()); !errors.As(err, &other) || s.State() != submit.Unknown {
		t.Errorf("after a lost answer: %s, %v", s.State(), err)
	}
}

func TestARefusal(t *testing.T) {
	w := newWorld(t)
	for reason, edit := range map[string]func(*submit.Action){
		"no such namespace": func(a *submit.Action) { a.Namespace = "nowhere" },
		"invalid":           func(a *submit.Action) { a.NotBefore, a.NotAfter = time.Unix(2, 0), time.Unix(1, 0) },
	} {
		s := w.prepare(w.client(nil), edit)
		_, err := s.Submit(t.Context())
		var refused *submit.RefusedError
		if !errors.As(err, &refused) || s.State() != submit.Idle {
			t.Errorf("%s: %s, %v", reason, s.State(), err)
		}
		var status apierrors.APIStatus
		if !errors.As(err, &status) {
			t.Errorf("%s: the API server's own answer is lost: %v", reason, err)
		}
	}
}

// TestARefusalByAWebhookIsComparedToo: an admission webhook may answer a reused key before the API server does.
func TestARefusalByAWebhookIsComparedToo(t *testing.T) {
	w := newWorld(t)
	w.submit(w.prepare(w.client(nil)))
	same := w.prepare(w.client(on(http.MethodPost, instead(403))))
	if receipt := w.submit(same); receipt.Answer != submit.Duplicate {
		t.Errorf("%s", receipt.Answer)
	}
}

func TestNothingIsSentWithoutTime(t *testing.T) {
	w := newWorld(t)
	s := w.prepare(w.client(nil))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Submit(ended); !errors.Is(err, context.Canceled) || s.State() != submit.Idle {
		t.Errorf("%s, %v", s.State(), err)
	}
	if n := len(w.there()); n != 0 {
		t.Errorf("%d submissions", n)
	}
}

// TestWhatWasReadCanBeSubmitted: to another cluster, or after it was deleted. What was written into it there is not sent.
func TestWhatWasReadCanBeSubmitted(t *testing.T) {
	w := newWorld(t)
	c := w.client(nil)
	there := w.submit(w.prepare(c)).Object
	w.finish(there, v1alpha1.PhaseSuccess)
	read := &v1alpha1.TaskSubmission{}
	if err := w.api.Get(t.Context(), client.ObjectKeyFromObject(there), read); err != nil {
		t.Fatal(err)
	}
	prepared := func() *submit.Submission {
		s, err := c.PrepareObject(read)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if receipt := w.submit(prepared()); receipt.Answer != submit.Duplicate {
		t.Errorf("while it is there: %s", receipt.Answer)
	}
	if err := w.api.Delete(t.Context(), read.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	s := prepared()
	if sent := s.Object(); sent.UID != "" || !sent.CreationTimestamp.IsZero() || sent.ManagedFields != nil || sent.Status.Phase != "" {
		t.Errorf("sent: %+v", sent)
	}
	if receipt := w.submit(s); receipt.Answer != submit.First || receipt.Object.UID == read.UID {
		t.Errorf("after it was deleted: %s", receipt.Answer)
	}
}

func TestDeletedBetweenTheRefusalAndTheLook(t *testing.T) {
	w := newWorld(t)
	there := w.submit(w.prepare(w.client(nil)))
	s := w.prepare(w.client(on(http.MethodGet, func(_ *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		if err := w.api.Delete(t.Context(), there.Object); err != nil {
			t.Error(err)
		}
		return send()
	})))
	if receipt := w.submit(s); receipt.Answer != submit.First || receipt.Object.UID == there.Object.UID {
		t.Errorf("%s", receipt.Answer)
	}
}

func TestWhatIsWrongWithAnActionIsToldBeforeAnythingIsSent(t *testing.T) {
	c := &submit.Client{} // it has no connection
	for reason, test := range map[string]struct {
		action submit.Action
		says   string
	}{
		"no key":         {submit.Action{Template: "t"}, "the key is empty"},
		"no template":    {submit.Action{Key: "k"}, "template is missing"},
		"no namespace":   {submit.Action{Namespace: "a/b", Key: "k", Template: "t"}, `no namespace has the name "a/b"`},
		"no such name":   {submit.Action{Key: "k", Template: "No Such Name"}, `no template has the name "No Such Name"`},
		"no object":      {submit.Action{Key: "k", Template: "t", Parameters: []int{1}}, "must be a JSON object"},
		"no JSON":        {submit.Action{Key: "k", Template: "t", Parameters: func() {}}, "parameters: "},
		"a large number": {submit.Action{Key: "k", Template: "t", Parameters: map[string]any{"n": uint64(1 << 63)}}, "write it as a string"},
	} {
		if _, err := c.Prepare(test.action); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	derived, err := v1alpha1.NameForKey("a:b")
	if err != nil {
		t.Fatal(err)
	}
	object := func(name, key string) *v1alpha1.TaskSubmission {
		o := &v1alpha1.TaskSubmission{Spec: v1alpha1.TaskSubmissionSpec{IdempotencyKey: key, TemplateRef: v1alpha1.TemplateRef{Name: "t"}}}
		o.Name = name
		return o
	}
	for _, test := range []struct{ reason, name, key, want, says string }{
		{"the name is the key", "a", "", "a", ""},
		{"the key makes the name", "", "a:b", derived, ""},
		{"another name than the key's", "x", "a:b", "", `it is "a-b-`},
		{"a name that cannot be a key", "a.b", "", "", `the name to "a-b-`},
		{"neither", "", "", "", "the key is empty"},
	} {
		s, err := c.PrepareObject(object(test.name, test.key))
		if test.says != "" {
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v", test.reason, err)
			}
		} else if err != nil || s.Name() != test.want {
			t.Errorf("%s: %v", test.reason, err)
		}
	}
	generated := object("", "a")
	generated.GenerateName = "a-"
	if _, err := c.PrepareObject(generated); err == nil || !strings.Contains(err.Error(), "generateName") {
		t.Errorf("generateName: %v", err)
	}
}

func TestWhatIsSent(t *testing.T) {
	w := newWorld(t)
	at := time.Now().Add(time.Hour).Truncate(time.Second)
	s := w.prepare(w.client(nil), func(a *submit.Action) {
		a.NotBefore, a.NotAfter, a.Traceparent = at, at.Add(time.Hour), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	})
	w.submit(s)
	stored := &v1alpha1.TaskSubmission{}
	if err := w.api.Get(t.Context(), client.ObjectKeyFromObject(s.Object()), stored); err != nil {
		t.Fatal(err)
	}
	if stored.Key() != s.Key() || !stored.Spec.NotBefore.Time.Equal(at) || !stored.Spec.NotAfter.Time.Equal(at.Add(time.Hour)) ||
		stored.Annotations[v1alpha1.AnnotationTraceparent] == "" || !bytes.Equal(stored.Spec.Parameters.Raw, s.Object().Spec.Parameters.Raw) {
		t.Errorf("%+v", stored)
	}
}
