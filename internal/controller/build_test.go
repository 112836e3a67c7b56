package controller_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

func newTemplate(namespace, name string) *v1alpha1.TaskTemplate {
	template := &v1alpha1.TaskTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	spec := &template.Spec
	spec.Effect.HTTP = &v1alpha1.HTTPEffect{HTTPRequest: v1alpha1.HTTPRequest{Method: "POST", URL: "http://receiver.example/" + name}}
	// A duration that Go leaves out is sent as 0s, so the defaults are written out.
	spec.Effect.HTTP.Timeout.Duration = 30 * time.Second
	spec.Retry.InitialDelay.Duration, spec.Retry.MaxDelay.Duration = time.Second, 5*time.Minute
	spec.Recovery.StuckAfter.Duration = 5 * time.Minute
	spec.Retention.RecordTTL.Duration = 720 * time.Hour
	return template
}

// template creates a template; edits change what it is otherwise.
func (w *world) template(name string, edits ...func(*v1alpha1.TaskTemplateSpec)) {
	GinkgoHelper()
	template := newTemplate(w.namespace, name)
	for _, edit := range edits {
		edit(&template.Spec)
	}
	Expect(admin.Create(ctx, template)).To(Succeed())
}

// edit changes a template that exists.
func (w *world) edit(name string, edits ...func(*v1alpha1.TaskTemplateSpec)) {
	GinkgoHelper()
	template := &v1alpha1.TaskTemplate{}
	Expect(admin.Get(ctx, w.named(name), template)).To(Succeed())
	for _, edit := range edits {
		edit(&template.Spec)
	}
	Expect(admin.Update(ctx, template)).To(Succeed())
}

func anotherEffect(spec *v1alpha1.TaskTemplateSpec) {
	spec.Effect.HTTP.URL = "http://another.example/"
}

func suspended(spec *v1alpha1.TaskTemplateSpec) { spec.Suspend = true }

func approved(spec *v1alpha1.TaskTemplateSpec) {
	spec.Approval = &v1alpha1.Approval{Required: true}
}

func byHand(spec *v1alpha1.TaskTemplateSpec) { spec.Recovery.Mode = v1alpha1.RecoveryManual }

func forOrder(spec *v1alpha1.TaskTemplateSpec) { spec.BusinessKey = "${string(params.order)}" }

func failsOnConflict(spec *v1alpha1.TaskTemplateSpec) {
	spec.OnBusinessKeyConflict = v1alpha1.FailConflict
}

func atMost(attempts int32) func(*v1alpha1.TaskTemplateSpec) {
	return func(spec *v1alpha1.TaskTemplateSpec) { spec.Retry.MaxAttempts = attempts }
}

func keptFor(ttl time.Duration) func(*v1alpha1.TaskTemplateSpec) {
	return func(spec *v1alpha1.TaskTemplateSpec) { spec.Retention.RecordTTL.Duration = ttl }
}

func keepsRecords(spec *v1alpha1.TaskTemplateSpec) {
	spec.Retention.Policy = v1alpha1.RetentionKeep
}

// removedAfter has submissions removed so long after they succeeded, and twice as long after they failed.
func removedAfter(ttl time.Duration) func(*v1alpha1.TaskTemplateSpec) {
	return func(spec *v1alpha1.TaskTemplateSpec) {
		spec.Retention.SubmissionTTL.Duration, spec.Retention.FailedTTL.Duration = ttl, 2*ttl
	}
}

// submit creates a submission of the template "work" with the parameters {"order": "7"}.
func (w *world) submit(name string, edits ...func(*v1alpha1.TaskSubmission)) *v1alpha1.TaskSubmission {
	GinkgoHelper()
	submission := newSubmission(w.namespace, name, edits...)
	Expect(admin.Create(ctx, submission)).To(Succeed())
	return submission
}

func newSubmission(namespace, name string, edits ...func(*v1alpha1.TaskSubmission)) *v1alpha1.TaskSubmission {
	submission := &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	submission.Spec.TemplateRef.Name = "work"
	submission.Spec.Parameters = apiextensionsv1.JSON{Raw: []byte(`{"order":"7"}`)}
	for _, edit := range edits {
		edit(submission)
	}
	return submission
}

func with(parameters string) func(*v1alpha1.TaskSubmission) {
	return func(s *v1alpha1.TaskSubmission) { s.Spec.Parameters.Raw = []byte(parameters) }
}

func under(template string) func(*v1alpha1.TaskSubmission) {
	return func(s *v1alpha1.TaskSubmission) { s.Spec.TemplateRef.Name = template }
}

func keyed(key string) func(*v1alpha1.TaskSubmission) {
	return func(s *v1alpha1.TaskSubmission) { s.Spec.IdempotencyKey = key }
}

func held(s *v1alpha1.TaskSubmission) { s.Finalizers = []string{"example.com/held"} }

func notBefore(at time.Time) func(*v1alpha1.TaskSubmission) {
	return func(s *v1alpha1.TaskSubmission) { s.Spec.NotBefore = &metav1.Time{Time: at} }
}

func notAfter(at time.Time) func(*v1alpha1.TaskSubmission) {
	return func(s *v1alpha1.TaskSubmission) { s.Spec.NotAfter = &metav1.Time{Time: at} }
}

// remove deletes a submission at once.
func (w *world) remove(name string) {
	GinkgoHelper()
	Expect(admin.Delete(ctx, w.submission(name), client.GracePeriodSeconds(0))).To(Succeed())
}

// again deletes a submission and applies it once more.
func (w *world) again(name string, edits ...func(*v1alpha1.TaskSubmission)) {
	GinkgoHelper()
	w.remove(name)
	w.submit(name, edits...)
}

// decide makes a decision about a submission as it stands.
func (w *world) decide(action v1alpha1.DecisionAction, name string, edits ...func(*v1alpha1.TaskDecisionSpec)) *v1alpha1.TaskDecision {
	GinkgoHelper()
	submission := w.submission(name)
	return w.decideBy(v1alpha1.TaskDecisionSpec{Submission: name, UID: submission.UID, Attempt: submission.Status.Attempts, Action: action, Reason: "asked the receiver"}, edits...)
}

// decideAs makes a decision that admission says is somebody's.
func (w *world) decideAs(person string, action v1alpha1.DecisionAction, name string, edits ...func(*v1alpha1.TaskDecisionSpec)) *v1alpha1.TaskDecision {
	GinkgoHelper()
	decision := w.decide(action, name, edits...)
	decision.Annotations = map[string]string{v1alpha1.AnnotationDecidedBy: person}
	Expect(admin.Update(ctx, decision)).To(Succeed())
	return decision
}

func (w *world) decideBy(spec v1alpha1.TaskDecisionSpec, edits ...func(*v1alpha1.TaskDecisionSpec)) *v1alpha1.TaskDecision {
	GinkgoHelper()
	for _, edit := range edits {
		edit(&spec)
	}
	w.decided++
	decision := &v1alpha1.TaskDecision{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: fmt.Sprintf("decision-%d", w.decided)}, Spec: spec}
	Expect(admin.Create(ctx, decision)).To(Succeed())
	return decision
}

// expectDecision compares what came of a decision, and returns the message.
func (w *world) expectDecision(decision *v1alpha1.TaskDecision, state v1alpha1.DecisionState) string {
	GinkgoHelper()
	found := &v1alpha1.TaskDecision{}
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(decision), found)).To(Succeed())
	Expect(found.Status.State).To(Equal(state), found.Status.Message)
	return found.Status.Message
}

// traits of a receiver that can be asked, and may still apply a request for settleAfter.
func asked(settleAfter time.Duration) effect.Traits {
	return effect.Traits{Timeout: 30 * time.Second, Verifies: true, VerifyTimeout: 30 * time.Second, SettleAfter: settleAfter}
}

// silent is a receiver that can neither be asked nor called twice.
func silent() effect.Traits { return effect.Traits{Timeout: 30 * time.Second} }

// remembering is a receiver that is idempotent for a while, and cannot be asked.
func remembering(d time.Duration) effect.Traits {
	return effect.Traits{Timeout: 30 * time.Second, ReplaySafe: true, RemembersFor: d}
}
