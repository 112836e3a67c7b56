package page

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func atNoon() time.Time { return noon }

// secretive is a submission whose every field that users or receivers fill in freely says so.
func secretive(name string, phase v1alpha1.Phase, reason v1alpha1.Reason) *v1alpha1.TaskSubmission {
	secret := &apiextensionsv1.JSON{Raw: []byte(`{"card": "a secret"}`)}
	ended := metav1.NewTime(noon)
	s := &v1alpha1.TaskSubmission{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, CreationTimestamp: metav1.NewTime(noon.Add(-time.Minute)), Annotations: map[string]string{"who": "a secret"}},
		Spec:       v1alpha1.TaskSubmissionSpec{TemplateRef: v1alpha1.TemplateRef{Name: "refund"}, Parameters: *secret},
		Status: v1alpha1.TaskSubmissionStatus{
			Phase: phase, Reason: reason, Message: "a secret", Result: secret, ResultDigest: "a secret", BusinessKey: "a secret",
			Conditions: []metav1.Condition{{Type: v1alpha1.ConditionStalled, Message: "a secret"}},
		},
	}
	if phase.Terminal() {
		s.Status.CompletedAt = &ended
	}
	return s
}

// TestARowKeepsNoSecrets: neither what was asked for, nor what came of it, nor what a receiver says.
func TestARowKeepsNoSecrets(t *testing.T) {
	record := &v1alpha1.TaskRecord{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "ik-1"},
		Spec: v1alpha1.TaskRecordSpec{Key: "refund-1", Template: "refund", Action: &v1alpha1.Action{
			Submission: v1alpha1.SubmissionRef{Name: "refund-1"}, Reason: v1alpha1.ReasonOutcomeUnknown, Message: "a secret",
			Parameters: &apiextensionsv1.JSON{Raw: []byte(`"a secret"`)}, BusinessKey: "a secret", Attempt: v1alpha1.Attempt{Message: "a secret"},
		}},
	}
	for _, r := range []Row{rowOf(secretive("refund-1", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)), abandonedRow(record)} {
		if told := fmt.Sprintf("%+v", r); strings.Contains(told, "secret") || r.Name != "refund-1" || r.Key != "" {
			t.Errorf("the row is %s", told)
		}
	}
}

// TestARowTellsWhatIsShown, and that of what is replayed nothing happened.
func TestARowTellsWhatIsShown(t *testing.T) {
	at := func(ago time.Duration) *metav1.Time { return &metav1.Time{Time: noon.Add(-ago)} }
	s := secretive("refund-1", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
	s.Spec.IdempotencyKey = "refund:1"
	s.Status.Attempts, s.Status.StartedAt, s.Status.Replayed = 3, at(30*time.Second), true
	s.Status.Conditions[0].LastTransitionTime = *at(20 * time.Second)
	want := row("refund-1", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied, time.Minute)
	want.Key, want.Attempts, want.Replayed = "refund:1", 3, true
	want.Begun, want.Ended, want.Stalled = noon.Add(-30*time.Second), noon, noon.Add(-20*time.Second)
	if got := rowOf(s); got != want {
		t.Errorf("the row is\n%+v, want\n%+v", got, want)
	}
}

// TestARowIsSmall: nothing that grows with what users write is in it but the key.
func TestARowIsSmall(t *testing.T) {
	for field := range reflect.TypeFor[Row]().Fields() {
		switch field.Type.Kind() {
		case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface:
			t.Errorf("%s may be of any size", field.Name)
		}
	}
}

// TestSubmissionsComeAndGo plays what a watch tells, and compares what is known after each.
func TestSubmissionsComeAndGo(t *testing.T) {
	s := newSubmissions(atNoon)
	step := func(what string, do func(any) error, object *v1alpha1.TaskSubmission, living, succeeded, failed int) {
		t.Helper()
		if err := do(object); err != nil {
			t.Fatal(err)
		}
		now := s.history.within(noon)[59]
		if len(s.living) != living || now.success != succeeded || now.failed != failed {
			t.Errorf("%s: %d live, %d succeeded, %d failed; want %d, %d, %d", what, len(s.living), now.success, now.failed, living, succeeded, failed)
		}
	}
	made, runs := secretive("a", "", ""), secretive("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting)
	good, bad := secretive("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied), secretive("a", v1alpha1.PhaseFailed, v1alpha1.ReasonRejected)
	step("it is made", s.Add, made, 1, 0, 0)
	if got := s.living[rowOf(made).NamespacedName]; got.Phase != v1alpha1.PhasePending || got.Reason != v1alpha1.ReasonAccepted {
		t.Errorf("what nobody has looked at is %s/%s", got.Phase, got.Reason)
	}
	step("it runs", s.Update, runs, 1, 0, 0)
	step("it fails", s.Update, bad, 0, 0, 1)
	step("it is labelled after that", s.Update, bad, 0, 0, 1)
	step("it is retried", s.Update, runs, 1, 0, 1)
	step("it succeeds", s.Update, good, 0, 1, 1)
	step("it is removed", s.Delete, good, 0, 1, 1)
	step("another one is made", s.Add, made, 1, 1, 1)
	step("and removed before its end", s.Delete, made, 0, 1, 1)
	s.begin()
	s.keep(&v1alpha1.TaskSubmissionList{Items: []v1alpha1.TaskSubmission{*runs, *secretive("c", v1alpha1.PhasePending, v1alpha1.ReasonAccepted)}})
	step("a list that is under way changes nothing", s.Update, good, 0, 1, 1)
	step("everything is read anew", func(any) error { return s.Replace(nil, "") }, nil, 2, 1, 1)
}

// TestTheHourOutlastsAList: what was counted and is gone stays, what is told of again is not counted again, and what finished
// while nothing was heard is. A list that is torn changes nothing.
func TestTheHourOutlastsAList(t *testing.T) {
	s := newSubmissions(atNoon)
	list := func(all ...*v1alpha1.TaskSubmission) {
		s.begin()
		for _, submission := range all { // a page each
			s.keep(&v1alpha1.TaskSubmissionList{Items: []v1alpha1.TaskSubmission{*submission}})
		}
	}
	expect := func(what string, succeeded, failed int) {
		t.Helper()
		now := s.history.within(noon)[59]
		if last := len(s.history.latest(noon)); now.success != succeeded || now.failed != failed || last != succeeded+failed {
			t.Errorf("%s: %d succeeded and %d failed, and %d are the last; want %d and %d", what, now.success, now.failed, last, succeeded, failed)
		}
	}
	good := func(name string, ago time.Duration) *v1alpha1.TaskSubmission {
		submission := secretive(name, v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		submission.Status.CompletedAt = &metav1.Time{Time: noon.Add(-ago)}
		return submission
	}
	seen, deleted, late := good("seen", 9*time.Second), good("deleted", 10*time.Second), good("late", 11*time.Second)
	list(seen, deleted, secretive("late", v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting))
	expect("before the first list has ended", 0, 0)
	_ = s.Replace(nil, "")
	expect("the first list", 2, 0)
	bad := secretive("new", v1alpha1.PhaseFailed, v1alpha1.ReasonRejected)
	list(late, bad)
	list(seen, late, bad)
	expect("a list was torn", 2, 0)
	_ = s.Replace(nil, "")
	expect("the second list", 3, 1)
	list(seen, late, bad)
	_ = s.Replace(nil, "")
	expect("nothing was missed", 3, 1)
	_ = s.Add(good("next", 0))
	expect("the watch goes on", 4, 1)
}

func TestRecordsComeAndGo(t *testing.T) {
	record := func(reason v1alpha1.Reason) *v1alpha1.TaskRecord {
		return &v1alpha1.TaskRecord{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "ik-1"}, Spec: v1alpha1.TaskRecordSpec{Action: &v1alpha1.Action{Reason: reason}}}
	}
	r := newRecords()
	for _, step := range []struct {
		what   string
		do     func(any) error
		object *v1alpha1.TaskRecord
		asking int
	}{
		{"it runs", r.Add, record(v1alpha1.ReasonExecuting), 0},
		{"its outcome is unknown", r.Update, record(v1alpha1.ReasonOutcomeUnknown), 1},
		{"it is looked into", r.Update, record(v1alpha1.ReasonVerifying), 0},
		{"it has finished, and is kept for good", r.Update, record(v1alpha1.ReasonApplied), 0},
		{"and is unknown again", r.Update, record(v1alpha1.ReasonOutcomeUnknown), 1},
		{"it is due, and so leaves the selector", r.Delete, record(v1alpha1.ReasonOutcomeUnknown), 0},
	} {
		if err := step.do(step.object); err != nil {
			t.Fatal(err)
		}
		if got := len(r.rows()); got != step.asking {
			t.Errorf("%s: %d ask, want %d", step.what, got, step.asking)
		}
	}
	r.begin()
	r.keep(&v1alpha1.TaskRecordList{Items: []v1alpha1.TaskRecord{*record(v1alpha1.ReasonOutcomeUnknown)}})
	if err := r.Replace(nil, ""); err != nil || len(r.rows()) != 1 {
		t.Errorf("%v: after a list %d ask", err, len(r.rows()))
	}
}

func TestContact(t *testing.T) {
	now := noon
	c := &contact{now: func() time.Time { return now }}
	expect := func(what string, asOf time.Time, says string) {
		t.Helper()
		at, wrong := c.asOf()
		if got := inTheWay("", wrong); !at.Equal(asOf) || !strings.Contains(got, says) || (says == "") != (got == "") {
			t.Errorf("%s: as of %s: %q", what, at, got)
		}
	}
	expect("before the first", time.Time{}, "")
	c.lost(errors.New("connection refused"))
	expect("the API server is away", time.Time{}, "does not answer")
	c.lost(apierrors.NewForbidden(schema.GroupResource{}, "", nil))
	expect("it may not read", time.Time{}, "taskonce-gateway-page")
	c.lost(apierrors.NewUnauthorized("who?"))
	expect("nobody knows it", time.Time{}, "service account")
	c.made()
	now = noon.Add(time.Minute)
	expect("it watches", now, "")
	c.lost(nil)
	lost := now
	now = now.Add(time.Minute)
	expect("the watch has ended", lost, "")
	c.lost(errors.New("connection refused"))
	expect("and cannot be taken up", lost, "does not answer")
	c.made()
	expect("it was taken up", now, "")
}
