package controller_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/controller"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/internal/effect/job"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/internal/record"
	"github.com/taskonce/taskonce/internal/telemetry"
)

var ctx = context.Background()

// world is a namespace with a receiver and an operator that is driven by hand, on a clock that is stepped. The API
// server is real, and the operator has the manager's rights.
type world struct {
	namespace string
	clock     *clocktesting.FakeClock
	fake      *effecttest.Fake
	faults    *faults
	op        *controller.Submissions
	decided   int

	account account

	mu         sync.Mutex
	violations []string
}

func newWorld() *world {
	GinkgoHelper()
	namespace, err := plane.Namespace(ctx)
	Expect(err).NotTo(HaveOccurred())
	w := &world{
		namespace: namespace, clock: clocktesting.NewFakeClock(time.Now().Truncate(time.Second)),
		fake: effecttest.New(), faults: &faults{},
	}
	w.fake.SetClock(w.clock.Now)
	w.op = w.operator("first-process")
	DeferCleanup(w.checkAtRest)
	return w
}

// operator is another process of the operator: it remembers nothing of what an earlier one did.
func (w *world) operator(executor string) *controller.Submissions {
	return w.operatorAt(executor, w.clock)
}

// operatorAt is a process whose machine has a clock of its own.
func (w *world) operatorAt(executor string, clock clock.Clock) *controller.Submissions {
	GinkgoHelper()
	live := w.faults.intercepted(managerClient, w.namespace, w.checkWrite, w.account.landed)
	op := &controller.Submissions{
		Client: filtered(live), Live: live, Records: &record.Store{Client: live},
		Plans:     controller.NewPlans(effect.Compilers{HTTP: w.fake.Compiler(), Job: job.New(job.Options{Client: live, Cache: live})}),
		Receivers: controller.NewReceivers(clock), Executor: executor, Clock: clock,
		Observer: telemetry.Observers{telemetry.Metrics{}, &w.account},
	}
	op.Init(100)
	return op
}

// replaceProcess has the operator killed and another one started.
func (w *world) replaceProcess() {
	w.decided++
	w.account.forgive()
	w.op = w.operator(fmt.Sprintf("process-%d", w.decided))
}

func (w *world) named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: w.namespace, Name: name}
}

// pass reconciles once.
func (w *world) pass(name string) (ctrl.Result, error) {
	return w.op.Reconcile(ctx, ctrl.Request{NamespacedName: w.named(name)})
}

// passesUntilAnError reconciles until a pass fails: the one that launches an effect, where that is quick, or one after it.
func (w *world) passesUntilAnError(name string) {
	GinkgoHelper()
	Eventually(func() error { _, err := w.pass(name); return err }).Should(HaveOccurred())
}

// run reconciles, as the work queue would, until there is nothing to do before a time that it returns.
func (w *world) run(name string) ctrl.Result {
	GinkgoHelper()
	for range 60 {
		w.landed(name)
		writes := w.faults.written()
		result, err := w.pass(name)
		soon := result.RequeueAfter > 0 && result.RequeueAfter <= 100*time.Millisecond
		quiet := writes == w.faults.written() || (result.RequeueAfter == 0 && w.gone(name)) // whose next look is the due loop's
		if err == nil && !soon && quiet && w.op.FlightState(w.named(name)) == lifecycle.FlightNone {
			return result
		}
	}
	Fail("it went on without end: " + name)
	return ctrl.Result{}
}

func (w *world) gone(name string) bool {
	GinkgoHelper()
	err := admin.Get(ctx, w.named(name), &v1alpha1.TaskSubmission{})
	Expect(client.IgnoreNotFound(err)).NotTo(HaveOccurred())
	return err != nil
}

// landed waits until nothing of the action runs.
func (w *world) landed(name string) {
	GinkgoHelper()
	Eventually(func() lifecycle.FlightState { return w.op.FlightState(w.named(name)) }).ShouldNot(Equal(lifecycle.FlightRunning), "an effect that never returns")
}

// after steps the clock and runs.
func (w *world) after(wait time.Duration, name string) ctrl.Result {
	GinkgoHelper()
	w.clock.Step(wait)
	return w.run(name)
}

// finish runs and steps to each time that is waited for, until the action has ended or only an event helps.
func (w *world) finish(name string) {
	GinkgoHelper()
	for range 40 {
		result := w.run(name)
		if w.status(name).Phase.Terminal() || result.RequeueAfter == 0 {
			return
		}
		w.clock.Step(result.RequeueAfter)
	}
	Fail("it waits and waits: " + name)
}

// sweep has the due loop look once, and goes on with what it set going.
func (w *world) sweep(names ...string) {
	GinkgoHelper()
	Expect(w.dueLoop().Sweep(ctx)).To(Succeed())
	for _, name := range names {
		w.run(name)
	}
}

func (w *world) dueLoop() *controller.DueLoop { return &controller.DueLoop{Submissions: w.op} }

func (w *world) submission(name string) *v1alpha1.TaskSubmission {
	GinkgoHelper()
	submission := &v1alpha1.TaskSubmission{}
	Expect(admin.Get(ctx, w.named(name), submission)).To(Succeed())
	return submission
}

func (w *world) status(name string) v1alpha1.TaskSubmissionStatus {
	GinkgoHelper()
	return w.submission(name).Status
}

// record returns the record of a key, or nil.
func (w *world) record(key string) *v1alpha1.TaskRecord {
	GinkgoHelper()
	found := &v1alpha1.TaskRecord{}
	err := admin.Get(ctx, w.named(v1alpha1.RecordName(key)), found)
	if client.IgnoreNotFound(err) == nil && err != nil {
		return nil
	}
	Expect(err).NotTo(HaveOccurred())
	return found
}

func (w *world) action(key string) *v1alpha1.Action {
	GinkgoHelper()
	found := w.record(key)
	Expect(found).NotTo(BeNil(), "there is no record")
	return found.Spec.Action
}

// effects is how often the effect of a submission has happened, and sent how many requests left.
func (w *world) effects(name string) int { return w.fake.Effects(w.namespace + "/" + name) }

func (w *world) sent(name string) int { return w.fake.Sent(w.namespace + "/" + name) }

// expect compares phase and reason.
func (w *world) expect(name string, phase v1alpha1.Phase, reason v1alpha1.Reason) {
	GinkgoHelper()
	status := w.status(name)
	Expect(string(status.Phase)+"/"+string(status.Reason)).To(Equal(string(phase)+"/"+string(reason)), status.Message)
}

// expectOnce says that it is over, and that the effect happened once.
func (w *world) expectOnce(name string, reason v1alpha1.Reason) {
	GinkgoHelper()
	w.expect(name, v1alpha1.PhaseSuccess, reason)
	Expect(w.effects(name)).To(Equal(1), "effects")
}

// awaitCall waits until so many calls of a method have begun.
func (w *world) awaitCall(method effecttest.Method, n int) {
	GinkgoHelper()
	limited, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	_, err := w.fake.Await(limited, method, n)
	Expect(err).NotTo(HaveOccurred())
}
