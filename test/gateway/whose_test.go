package gateway_test

import (
	"context"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// TestWhoseOutcomeItIs: what a template without access says nothing of, the record knows: somebody else's outcome is told to
// nobody who sends the same action after it was deleted, or one with the same business key.
func TestWhoseOutcomeItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("award", "/plain/points", schema)
	w.template("unique", "/plain/points", schema, func(s *v1alpha1.TaskTemplateSpec) { s.BusinessKey = "${params.order}" })
	student, other := installation.issuer.of(t, "stu-7"), installation.issuer.of(t, "stu-8")
	gateway := installation.verifying
	refused := func(kind string, a asked) {
		t.Helper()
		if refused := w.expect(403, kind, gateway, other, a); refused.Submission != nil || strings.Contains(refused.Detail, "points") {
			t.Errorf("somebody else is shown it: %+v", refused)
		}
	}

	w.expect(201, "", gateway, student, submits("task", "award"))
	deleted("task")(w)
	refused("not-told", submits("task", "award"))
	refused("forbidden", reads("/task"))
	refused("forbidden", reads("/task/events"))
	if s := w.submission("task"); !s.Status.Replayed || s.Annotations[v1alpha1.AnnotationOnBehalfOf] != installation.issuer.URL+"#stu-8" {
		t.Errorf("it is not what the other has sent: %+v", s)
	}
	w.expect(200, "", gateway, student, reads("/task"))
	if again := w.send(gateway, student, submits("task", "award")); again.status != 201 || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("whose it is gets %d %v: %s", again.status, again.header, again.body)
	}

	w.expect(201, "", gateway, student, submits("one", "unique"))
	refused("not-told", submits("two", "unique"))
	refused("forbidden", reads("/two"))
	if own := w.expect(201, "", gateway, student, submits("three", "unique")); own.Reason != string(v1alpha1.ReasonAlreadyApplied) {
		t.Errorf("whose it is gets %+v", own)
	}

	w.expect(201, "", installation.passing, w.token, submits("application", "award"))
	deleted("application")(w)
	refused("not-told", submits("application", "award"))
	for name, n := range map[string]int{"task": 1, "one": 1, "two": 0, "three": 0, "application": 1} {
		if got := w.effects(name); got != n {
			t.Errorf("%s had %d effects, want %d", name, got, n)
		}
	}
}

// TestWhoMaySubmitMayRead where a template states access: also what was deleted and was somebody else's.
func TestWhoMaySubmitMayRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("award", "/plain/points", schema, ownTasks)
	student, other := installation.issuer.of(t, "stu-7"), installation.issuer.of(t, "stu-8")
	teacher := installation.issuer.token(t, installation.issuer.Key, map[string]any{"sub": "ms-lee", "roles": []string{"teacher"}})
	gateway := installation.verifying
	w.expect(201, "", gateway, student, submits("task", "award", saying(forStudent)))
	deleted("task")(w)
	w.expect(403, "forbidden", gateway, other, submits("task", "award", saying(forStudent)))
	if again := w.send(gateway, teacher, submits("task", "award", saying(forStudent))); again.status != 201 || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the teacher gets %d: %s", again.status, again.body)
	}
	w.expect(200, "", gateway, student, reads("/task"))
	w.expect(403, "forbidden", gateway, other, reads("/task"))
}

// TestAStreamEndsWhereItIsSomebodyElses: what one has submitted oneself can turn out to be known already.
func TestAStreamEndsWhereItIsSomebodyElses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := installation.issuer.of(t, "stu-8")
	s := &v1alpha1.TaskSubmission{}
	s.Name, s.Annotations = "task", map[string]string{v1alpha1.AnnotationOnBehalfOf: installation.issuer.URL + "#stu-8"}
	s.Spec.TemplateRef.Name = "award" // which there is not, so that it waits
	w.create(s)
	events := w.listen(installation.verifying, other, "/task/events", "")
	<-events
	if err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now := w.submission("task")
		now.Status.Phase, now.Status.Reason, now.Status.Replayed, now.Status.OutcomeOnBehalfOf = v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied, true, installation.issuer.URL+"#stu-7"
		return w.admin.Status().Update(t.Context(), now)
	}); err != nil {
		t.Fatal(err)
	}
	for e := range events {
		if strings.Contains(e.data, "Success") || e.kind == "gone" {
			t.Errorf("somebody else is told %+v", e)
		}
	}
	w.expect(403, "forbidden", installation.verifying, other, reads("/task/events"))
}

// TestAnotherPersonApproves: neither the gateway's account nor the one on whose behalf it submitted.
func TestAnotherPersonApproves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("award", "/plain/points", schema, func(s *v1alpha1.TaskTemplateSpec) {
		s.Approval = &v1alpha1.Approval{Required: true, DistinctFromSubmitter: true}
	})
	himself := installation.issuer.URL + "#stu-7"
	w.bind("taskonce-approver", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "User", Name: himself})
	config := rest.CopyConfig(installation.plane.Config)
	config.Impersonate.UserName = himself
	student, err := client.New(config, client.Options{Scheme: w.admin.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	w.expect(202, "", installation.verifying, installation.issuer.of(t, "stu-7"), submits("task", "award", with("Prefer", "wait=0")))
	own := &v1alpha1.TaskDecision{}
	own.Namespace, own.Name = w.namespace, "own"
	own.Spec = v1alpha1.TaskDecisionSpec{Submission: "task", UID: w.submission("task").UID, Action: v1alpha1.DecisionApprove, Reason: "it is mine"}
	if err := student.Create(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := w.admin.Get(ctx, client.ObjectKeyFromObject(own), own)
		return own.Status.State != "" && own.Status.State != v1alpha1.DecisionPending, err
	}); err != nil || own.Status.State != v1alpha1.DecisionRefused || !strings.Contains(own.Status.Message, "on whose behalf") {
		t.Errorf("one's own approval: %+v, %v", own.Status, err)
	}
	w.approve("task")
	w.expect(201, "", installation.verifying, installation.issuer.of(t, "stu-7"), submits("task", "award", with("Prefer", "wait=60")))
}
