package controller_test

import (
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/controller"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

// unauthorized is the answer to credentials that are not, or no more, accepted.
func unauthorized() effecttest.Step {
	step := effecttest.Busy("the receiver answered 401 Unauthorized")
	step.Outcome.Credentials = effect.CredentialsRefused
	return step
}

func authorized() effecttest.Step {
	step := effecttest.Applies(`{}`)
	step.Outcome.Credentials = effect.CredentialsAccepted
	return step
}

// health returns the condition ReceiverHealthy of the template "work", as it is after a reconciliation.
func (w *world) health() *metav1.Condition {
	GinkgoHelper()
	templates := &controller.Templates{Client: managerClient, Plans: w.op.Plans, Receivers: w.op.Receivers}
	_, err := templates.Reconcile(ctx, ctrl.Request{NamespacedName: w.named("work")})
	Expect(err).NotTo(HaveOccurred())
	template := &v1alpha1.TaskTemplate{}
	Expect(admin.Get(ctx, w.named("work"), template)).To(Succeed())
	return meta.FindStatusCondition(template.Status.Conditions, v1alpha1.ConditionReceiverHealthy)
}

var _ = Describe("Credentials that a receiver refuses", func() {
	var w *world
	BeforeEach(func() {
		w = newWorld()
		w.fake.SetDefault(unauthorized())
		w.template("work", atMost(2))
		w.submit("a")
		w.run("a")
	})

	It("keep new attempts back, and say so where people look", func() {
		w.expect("a", v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying)
		Expect(w.status("a").Message).To(ContainSubstring("refuses the template's credentials"))
		w.submit("b")
		w.run("b")
		w.expect("b", v1alpha1.PhasePending, v1alpha1.ReasonDependencyMissing)
		Expect(w.status("b").Message).To(ContainSubstring("401 Unauthorized): correct the Secrets"))
		Expect(w.record("b")).To(BeNil(), "nothing was begun")
		Expect(w.health().Status).To(Equal(metav1.ConditionFalse))
		Expect(w.health().Message).To(ContainSubstring("401 Unauthorized; nothing new begins"))
	})

	It("are tried by one submission at a time, less and less often, and spend no attempt of any", func() {
		names := []string{"a", "b", "c"}
		for _, name := range names[1:] {
			w.submit(name)
			w.run(name)
		}
		sent := func() (total int) {
			for _, name := range names {
				total += w.sent(name)
			}
			return total
		}
		for probes, wait := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second} {
			w.clock.Step(wait - time.Second)
			for _, name := range names {
				w.run(name)
			}
			Expect(sent()).To(Equal(1+probes), "too early")
			w.clock.Step(time.Second)
			for _, name := range names {
				w.run(name)
			}
			Expect(sent()).To(Equal(2 + probes))
		}
		for _, name := range names {
			Expect(w.status(name).Phase.Terminal()).To(BeFalse(), name)
			if found := w.record(name); found != nil {
				Expect(found.Spec.Action.Tries).To(BeZero(), name)
			}
		}
	})

	It("that are accepted again let all go on", func() {
		w.submit("b")
		w.run("b")
		w.fake.SetDefault(authorized())
		w.after(10*time.Second, "b")
		w.expectOnce("b", v1alpha1.ReasonApplied)
		Expect(w.health().Status).To(Equal(metav1.ConditionTrue))
		w.submit("c")
		w.run("c")
		w.expectOnce("c", v1alpha1.ReasonApplied)
		w.finish("a")
		w.expectOnce("a", v1alpha1.ReasonApplied)
	})

	It("are not cleared by an answer that says nothing of them", func() {
		w.fake.SetDefault(effecttest.Fails(errors.New("nothing was sent")))
		w.submit("b")
		w.after(10*time.Second, "b")
		w.submit("c")
		w.run("c")
		w.expect("c", v1alpha1.PhasePending, v1alpha1.ReasonDependencyMissing)
		Expect(w.sent("c")).To(BeZero())
	})

	It("are those of one effect: an edited one is tried at once", func() {
		Expect(w.health().Status).To(Equal(metav1.ConditionFalse))
		w.fake.SetDefault(effecttest.Applies(`{}`))
		w.edit("work", anotherEffect)
		w.submit("b")
		w.run("b")
		w.expectOnce("b", v1alpha1.ReasonApplied)
		Expect(w.health()).To(BeNil(), "what was heard was of another effect")
	})

	It("are waited for no longer than until notAfter", func() {
		w.submit("b", notAfter(w.clock.Now().Add(5*time.Second)))
		w.run("b")
		w.after(5*time.Second, "b")
		w.expect("b", v1alpha1.PhaseFailed, v1alpha1.ReasonTooLate)
	})

	It("are another template's own affair", func() {
		w.fake.OnSubmission("b", 1, effecttest.Applies(`{}`))
		w.template("other")
		w.submit("b", under("other"))
		w.run("b")
		w.expectOnce("b", v1alpha1.ReasonApplied)
	})
})
