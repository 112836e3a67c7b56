package controller_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/internal/effect/httpcall"
)

var _ = Describe("A running operator", func() {
	It("writes three times for an effect that is quick, reads nothing, and then is quiet", func() {
		still := clocktesting.NewFakeClock(time.Now())
		w := newManagedAt(still)
		w.template("work")
		w.seen("work")
		w.settled()
		w.submit("a")
		w.eventually("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		record := v1alpha1.RecordName("a")
		Expect(w.settled()).To(Equal([]string{"POST taskrecords", "PUT taskrecords/" + record, "PUT tasksubmissions/a/status"}))
		Expect(w.effects("a")).To(Equal(1))
		Eventually(still.HasWaiters).Should(BeTrue())
		still.Step(time.Second) // another sweep
		Expect(w.settled()).To(BeEmpty())
	})

	It("writes once more for a business key", func() {
		w := newManagedAt(clocktesting.NewFakeClock(time.Now()))
		w.template("work", forOrder)
		w.seen("work")
		w.settled()
		w.submit("a")
		w.eventually("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(w.settled()).To(Equal([]string{
			"POST taskrecords", "POST taskrecords", "PUT taskrecords/" + v1alpha1.RecordName("a"), "PUT tasksubmissions/a/status",
		}))
	})

	It("says Processing for an effect that takes longer, and goes on by itself", func() {
		w := newManaged()
		hold := make(chan struct{})
		w.fake.On(1, effecttest.Applies(`{}`).HeldAfter(hold))
		w.template("work")
		w.submit("a")
		w.eventually("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonExecuting)
		w.settled()
		w.edit("work", func(spec *v1alpha1.TaskTemplateSpec) { spec.Retention.SubmissionTTL.Duration = time.Hour })
		Expect(w.settled()).NotTo(ContainElement("PUT tasksubmissions/a/status"), "it is looked at again, and nothing of it has changed")
		close(hold)
		w.eventually("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
	})

	It("is woken by what it waits for: a template, an edit, a slot, a decision, a business key, a time", func() {
		w := newManaged()
		hold := make(chan struct{})
		w.fake.OnSubmission("holder", 1, effecttest.Applies(`{}`).HeldAfter(hold))
		w.fake.OnSubmission("slow", 1, effecttest.Applies(`{}`).HeldAfter(hold))
		w.fake.OnSubmission("again", 1, effecttest.Busy("later"))

		w.submit("early", under("late"))
		w.template("business", forOrder)
		w.submit("holder", under("business"))
		w.awaitCall(effecttest.Execute, 1)
		w.submit("waits", under("business"))
		w.template("narrow", func(spec *v1alpha1.TaskTemplateSpec) { spec.Limits.MaxInFlight = 1 })
		w.submit("slow", under("narrow"))
		w.awaitCall(effecttest.Execute, 2)
		w.submit("queued", under("narrow"))
		w.template("stopped", suspended)
		w.submit("stopped", under("stopped"))
		w.template("careful", approved)
		w.submit("careful", under("careful"))
		w.template("work")
		w.submit("again")
		w.submit("soon", notBefore(time.Now().Add(2*time.Second)))

		w.eventually("early", v1alpha1.PhasePending, v1alpha1.ReasonTemplateNotFound)
		w.eventually("waits", v1alpha1.PhasePending, v1alpha1.ReasonBusinessKeyHeld)
		w.eventually("queued", v1alpha1.PhasePending, v1alpha1.ReasonLimitReached)
		w.eventually("stopped", v1alpha1.PhasePending, v1alpha1.ReasonTemplateSuspended)
		w.eventually("careful", v1alpha1.PhasePending, v1alpha1.ReasonAwaitingApproval)

		w.template("late")
		w.edit("stopped", func(spec *v1alpha1.TaskTemplateSpec) { spec.Suspend = false })
		decision := w.decide(v1alpha1.DecisionApprove, "careful", pinned(digestIn(w.status("careful").Message)))
		close(hold)
		for _, name := range []string{"early", "holder", "slow", "queued", "stopped", "careful", "again", "soon"} {
			w.eventually(name, v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
			Expect(w.effects(name)).To(Equal(1), name)
		}
		w.eventually("waits", v1alpha1.PhaseSuccess, v1alpha1.ReasonAlreadyApplied)
		w.expectDecision(decision, v1alpha1.DecisionApplied)
	})

	It("takes a hundred submissions and their duplicates, and applies each once", func() {
		w := newManaged()
		w.template("work")
		const actions = 100
		names := make([]string, actions)
		var clients sync.WaitGroup
		for i := range names {
			names[i] = "action-" + string(rune('a'+i/26)) + string(rune('a'+i%26))
			for range 2 {
				clients.Go(func() {
					defer GinkgoRecover()
					err := admin.Create(ctx, newSubmission(w.namespace, names[i]))
					Expect(err == nil || apierrors.IsAlreadyExists(err)).To(BeTrue(), "%v", err)
				})
			}
		}
		clients.Wait()
		for _, name := range names {
			w.eventually(name, v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
			Expect(w.effects(name)).To(Equal(1), name)
		}
	})

	It("replays after a deletion, tells another payload so, and opens again what failed", func() {
		w := newManaged()
		w.fake.OnSubmission("failed", 1, effecttest.Refuses("no such order"))
		w.template("work")
		w.submit("a")
		w.eventually("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		w.again("a")
		w.eventually("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(w.status("a").Replayed).To(BeTrue())
		w.again("a", with(`{"order":"8"}`))
		w.eventually("a", v1alpha1.PhaseFailed, v1alpha1.ReasonKeyReused)
		Expect(w.effects("a")).To(Equal(1))

		w.submit("failed")
		w.eventually("failed", v1alpha1.PhaseFailed, v1alpha1.ReasonRejected)
		w.decide(v1alpha1.DecisionRetry, "failed")
		w.eventually("failed", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(w.status("failed").Attempts).To(Equal(int32(2)))
	})

	It("removes records by itself when their time is over", func() {
		w := newManaged()
		w.template("work", keptFor(time.Second))
		w.submit("a")
		w.eventually("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		w.remove("a")
		Eventually(func() any { return w.record("a") }).Should(BeNil())
	})

	It("stores what runs when it is told to stop, and begins nothing more", func() {
		w := newManaged()
		hold := make(chan struct{})
		w.fake.OnSubmission("a", 1, effecttest.Applies(`{"receipt": 17}`).HeldAfter(hold))
		w.template("work", func(spec *v1alpha1.TaskTemplateSpec) { spec.Limits.MaxInFlight = 1 })
		w.submit("a")
		w.awaitCall(effecttest.Execute, 1)
		w.submit("b")
		w.eventually("b", v1alpha1.PhasePending, v1alpha1.ReasonLimitReached)
		stopped := make(chan struct{})
		go func() {
			defer GinkgoRecover()
			defer close(stopped)
			w.stop()
		}()
		Consistently(stopped).WithTimeout(300 * time.Millisecond).ShouldNot(BeClosed())
		close(hold)
		Eventually(stopped).Should(BeClosed())
		Expect(w.action("a").Phase).To(Equal(v1alpha1.PhaseSuccess))
		Expect(w.action("a").Result.Raw).To(MatchJSON(`{"receipt": 17}`))
		Expect(w.fake.Calls()).To(HaveLen(1))
		Expect(w.record("b")).To(BeNil())
	})

	It("says of every template whether it can be used", func() {
		w := newManaged()
		w.template("work")
		ready := func() (state metav1.ConditionStatus) {
			template := newTemplate(w.namespace, "work")
			Expect(admin.Get(ctx, w.named("work"), template)).To(Succeed())
			for _, condition := range template.Status.Conditions {
				if condition.Type == v1alpha1.ConditionReady && template.Status.ObservedGeneration == template.Generation {
					return condition.Status
				}
			}
			return ""
		}
		Eventually(ready).Should(Equal(metav1.ConditionTrue))
		w.edit("work", func(spec *v1alpha1.TaskTemplateSpec) {
			spec.ParametersSchema = &v1alpha1.ParametersSchema{}
			spec.ParametersSchema.OpenAPIV3Schema.Raw = []byte(`{"type":"nonsense"}`)
		})
		Eventually(ready).Should(Equal(metav1.ConditionFalse))
	})

	It("calls a real receiver, with a Secret that is waited for", func() {
		var mu sync.Mutex
		var keys, tokens []string
		receiver := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			keys, tokens = append(keys, request.Header.Get("Idempotency-Key")), append(tokens, request.Header.Get("X-Token"))
			answer.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(answer, `{"receipt": 17}`)
		}))
		DeferCleanup(receiver.Close)
		w := newManaged(httpcall.New(httpcall.Options{AllowLoopback: true, Secret: secretReader}))
		w.template("work", func(spec *v1alpha1.TaskTemplateSpec) {
			spec.Effect.HTTP.URL = receiver.URL + "/orders/${params.order}"
			spec.Effect.HTTP.Headers = []v1alpha1.HTTPHeader{{Name: "X-Token", ValueFrom: &v1alpha1.ValueSource{
				SecretKeyRef: v1alpha1.SecretKeyRef{Name: "token", Key: "value"},
			}}}
		})
		w.submit("a")
		w.eventually("a", v1alpha1.PhasePending, v1alpha1.ReasonDependencyMissing)
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "token"}, StringData: map[string]string{"value": "t0p"}}
		Expect(admin.Create(ctx, secret)).To(Succeed())
		w.eventually("a", v1alpha1.PhaseSuccess, v1alpha1.ReasonApplied)
		Expect(w.status("a").Result.Raw).To(MatchJSON(`{"receipt": 17}`))
		mu.Lock()
		defer mu.Unlock()
		Expect(keys).To(Equal([]string{`"` + w.namespace + `/a"`}))
		Expect(tokens).To(Equal([]string{"t0p"}))
	})
})

// secretReader reads a Secret as the manager does.
func secretReader(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	secret := &corev1.Secret{}
	if err := managerClient.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, secret); err != nil {
		return nil, effect.Missing("the Secret %q does not exist in this namespace: create it", name)
	}
	return secret.Data, nil
}
