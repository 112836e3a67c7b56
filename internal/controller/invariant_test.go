package controller_test

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/lifecycle"
	"github.com/taskonce/taskonce/test/gitops"
)

// reasons is the closed list of the design, by phase.
var reasons = map[v1alpha1.Phase][]v1alpha1.Reason{
	v1alpha1.PhasePending: {
		v1alpha1.ReasonAccepted, v1alpha1.ReasonNotYet, v1alpha1.ReasonTemplateNotFound, v1alpha1.ReasonTemplateNotReady, v1alpha1.ReasonTemplateSuspended,
		v1alpha1.ReasonDependencyMissing, v1alpha1.ReasonAwaitingApproval, v1alpha1.ReasonBusinessKeyHeld, v1alpha1.ReasonLimitReached,
	},
	v1alpha1.PhaseProcessing: {
		v1alpha1.ReasonExecuting, v1alpha1.ReasonInProgress, v1alpha1.ReasonRetrying, v1alpha1.ReasonVerifying, v1alpha1.ReasonOutcomeUnknown,
	},
	v1alpha1.PhaseSuccess: {
		v1alpha1.ReasonApplied, v1alpha1.ReasonAlreadyApplied, v1alpha1.ReasonVerifiedApplied, v1alpha1.ReasonConfirmedApplied,
	},
	v1alpha1.PhaseFailed: {
		v1alpha1.ReasonInvalidName, v1alpha1.ReasonInvalidParameters, v1alpha1.ReasonKeyMismatch, v1alpha1.ReasonKeyReused, v1alpha1.ReasonBusinessKeyConflict,
		v1alpha1.ReasonRejected, v1alpha1.ReasonRetriesExhausted, v1alpha1.ReasonTooLate, v1alpha1.ReasonCancelled, v1alpha1.ReasonConfirmedNotApplied,
	},
}

// checkWrite holds every status that is written against the one before it (I5, I6).
func (w *world) checkWrite(next *v1alpha1.TaskSubmission) {
	old := &v1alpha1.TaskSubmission{}
	if admin.Get(ctx, client.ObjectKeyFromObject(next), old) != nil || old.UID != next.UID {
		return
	}
	switch {
	case old.Status.Phase == v1alpha1.PhaseSuccess && next.Status.Phase != v1alpha1.PhaseSuccess:
		w.violated("%s: Success became %s/%s", next.Name, next.Status.Phase, next.Status.Reason)
	case old.Status.ResultDigest != "" && old.Status.ResultDigest != next.Status.ResultDigest:
		w.violated("%s: the result changed", next.Name)
	case old.Status.Attempts > next.Status.Attempts && next.Status.Reason != v1alpha1.ReasonKeyReused:
		w.violated("%s: attempts fell from %d to %d", next.Name, old.Status.Attempts, next.Status.Attempts)
	case old.Status.Phase == v1alpha1.PhaseFailed && !next.Status.Phase.Terminal() && !w.reopened(next):
		w.violated("%s: Failed became %s/%s without a Retry", next.Name, next.Status.Phase, next.Status.Reason)
	case next.Status.ObservedGeneration != next.Generation:
		w.violated("%s: observedGeneration is %d and the generation %d", next.Name, next.Status.ObservedGeneration, next.Generation)
	}
}

func (w *world) reopened(submission *v1alpha1.TaskSubmission) bool {
	record := &v1alpha1.TaskRecord{}
	err := admin.Get(ctx, client.ObjectKey{Namespace: submission.Namespace, Name: v1alpha1.RecordName(submission.Key())}, record)
	return err == nil && record.Spec.Action.Retries > 0
}

func (w *world) violated(format string, arguments ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violations = append(w.violations, fmt.Sprintf(format, arguments...))
}

// checkAtRest runs after every spec: what was written was legal, each status says one thing, and two more passes
// change nothing.
func (w *world) checkAtRest() {
	list := &v1alpha1.TaskSubmissionList{}
	Expect(admin.List(ctx, list, client.InNamespace(w.namespace))).To(Succeed())
	for i := range list.Items {
		name := list.Items[i].Name
		if w.op == nil || w.op.FlightState(w.named(name)) == lifecycle.FlightRunning {
			continue
		}
		w.run(name)
		before := w.versions()
		for range 2 {
			_, err := w.pass(name)
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(w.versions()).To(Equal(before), "a pass with nothing to do wrote something")
		if status := w.status(name); status.ObservedGeneration >= 0 {
			checkStatus(w.submission(name))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	Expect(w.violations).To(BeEmpty())
	Expect(w.faults.pending()).To(BeZero(), "a fault of the spec was never met")
	Expect(w.account.faults()).To(BeEmpty(), "each write of a record is told once")
	Expect(w.account.auditFaults()).To(BeEmpty(), "the audit log")
}

// versions returns the resource versions of submissions and records.
func (w *world) versions() map[string]string {
	GinkgoHelper()
	versions := map[string]string{}
	submissions, records := &v1alpha1.TaskSubmissionList{}, &v1alpha1.TaskRecordList{}
	Expect(admin.List(ctx, submissions, client.InNamespace(w.namespace))).To(Succeed())
	Expect(admin.List(ctx, records, client.InNamespace(w.namespace))).To(Succeed())
	for i := range submissions.Items {
		versions[submissions.Items[i].Name] = submissions.Items[i].ResourceVersion
	}
	for i := range records.Items {
		versions[records.Items[i].Name] = records.Items[i].ResourceVersion
	}
	return versions
}

// checkStatus says whether phase, reason, message and conditions speak of one and the same thing.
func checkStatus(submission *v1alpha1.TaskSubmission) {
	GinkgoHelper()
	status := &submission.Status
	Expect(slices.Contains(reasons[status.Phase], status.Reason)).To(BeTrue(), "%s has no reason %q", status.Phase, status.Reason)
	Expect(status.Message).NotTo(BeEmpty())
	Expect(status.CompletedAt != nil).To(Equal(status.Phase.Terminal()), "completedAt")
	is := func(kind string) bool { return meta.IsStatusConditionTrue(status.Conditions, kind) }
	Expect(is(v1alpha1.ConditionReady)).To(Equal(status.Phase == v1alpha1.PhaseSuccess), "Ready")
	Expect(is(v1alpha1.ConditionFinished)).To(Equal(status.Phase.Terminal()), "Finished")
	stalled := status.Phase == v1alpha1.PhaseFailed || status.Reason == v1alpha1.ReasonOutcomeUnknown
	Expect(is(v1alpha1.ConditionStalled)).To(Equal(stalled), "Stalled")
	Expect(is(v1alpha1.ConditionReconciling)).To(Equal(!stalled && !status.Phase.Terminal()), "Reconciling")
	checkTools(submission)
	for _, condition := range status.Conditions {
		Expect(condition.Reason).To(Equal(string(status.Reason)))
		Expect(condition.Message).To(Equal(status.Message))
		Expect(condition.ObservedGeneration).To(Equal(submission.Generation))
	}
}

// checkTools holds what GitOps tools make of a status against what docs/gitops.md says.
func checkTools(submission *v1alpha1.TaskSubmission) {
	GinkgoHelper()
	want := map[v1alpha1.Phase][2]string{
		v1alpha1.PhasePending: {"InProgress", "Progressing"}, v1alpha1.PhaseProcessing: {"InProgress", "Progressing"},
		v1alpha1.PhaseSuccess: {"Current", "Healthy"}, v1alpha1.PhaseFailed: {"Failed", "Degraded"},
	}[submission.Status.Phase]
	switch submission.Status.Reason {
	case v1alpha1.ReasonOutcomeUnknown:
		want = [2]string{"Failed", "Degraded"}
	case v1alpha1.ReasonAwaitingApproval, v1alpha1.ReasonTemplateSuspended:
		want[1] = "Suspended"
	}
	if submission.DeletionTimestamp != nil {
		want[0] = "Terminating"
	}
	kind := v1alpha1.GroupVersion.WithKind("TaskSubmission")
	status, err := gitops.Kstatus(submission, kind)
	Expect(err).NotTo(HaveOccurred())
	Expect(string(status)).To(Equal(want[0]), "kstatus")
	health, err := gitops.ArgoCD(submission, kind)
	Expect(err).NotTo(HaveOccurred())
	Expect(health.Status).To(Equal(want[1]), "Argo CD")
	Expect(health.Message).To(ContainSubstring(submission.Status.Message))
}
