package install_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// secret is what must not be seen anywhere.
const secret = "s3cr3t-0f-the-shop"

// templates use everything that the operator has a right for.
const templates = `
kubectl apply --namespace=NAMESPACE -f - <<'END'
apiVersion: v1
kind: Secret
metadata: {name: shop}
stringData: {token: SECRET}
---
apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: pay}
spec:
  parametersSchema: {openAPIV3Schema: {type: object, properties: {order: {type: string, maxLength: 40}}}}
  businessKey: "${params.order}"
  effect: {http: {url: "http://RECEIVER/plain/pay", headers: [{name: X-Token, valueFrom: {secretKeyRef: {name: shop, key: token}}}]}}
---
apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: approve}
spec:
  access: timestamp('2026-07-01T12:00:00Z').getHours('Europe/Berlin') == 14
  approval: {required: true}
  effect: {http: {url: "http://RECEIVER/plain/approve${timestamp('2026-07-01T12:00:00Z').getHours('Europe/Berlin')}"}}
---
apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: lost}
spec:
  effect: {http: {url: "http://RECEIVER/drop/lost"}}
---
apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: fleeting}
spec:
  approval: {required: true}
  retention: {submissionTTL: 1s, recordTTL: 10s} # longer than a sweep takes to meet its decision
  effect: {http: {url: "http://RECEIVER/plain/fleeting"}}
---
apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: brief}
spec:
  retention: {submissionTTL: 1s}
  effect:
    job:
      template:
        spec:
          template:
            spec:
              restartPolicy: Never
              containers: [{name: work, image: "busybox:1.37"}]
END
`

// submission is what a client applies.
const submission = `
kubectl apply --namespace=NAMESPACE -f - <<'END'
apiVersion: taskonce.dev/v1alpha1
kind: TaskSubmission
metadata: {name: NAME}
spec: {templateRef: {name: TEMPLATE}, parameters: {order: "ORDER"}}
END
`

// install makes the templates, and waits until the operator has compiled them.
func (w *world) install(namespace string) {
	w.Helper()
	w.write(namespace)
	w.sh("kubectl wait tasktemplates --all --for=condition=Ready --timeout=60s -n " + namespace)
}

// write makes the templates.
func (w *world) write(namespace string) {
	w.Helper()
	w.sh(strings.NewReplacer("NAMESPACE", namespace, "SECRET", secret, "RECEIVER", w.receiver).Replace(templates))
}

func (w *world) submit(namespace, name, template, order string) {
	w.Helper()
	w.sh(strings.NewReplacer("NAMESPACE", namespace, "NAME", name, "TEMPLATE", template, "ORDER", order).Replace(submission))
}

// newNamespace makes one.
func (w *world) newNamespace() string {
	w.Helper()
	name, err := w.plane.Namespace(w.Context())
	w.must(err)
	return name
}

// reaches waits until a submission is there, and returns it.
func (w *world) reaches(namespace, name string, reason v1alpha1.Reason) *v1alpha1.TaskSubmission {
	w.Helper()
	found := &v1alpha1.TaskSubmission{}
	w.await(fmt.Sprintf("%s/%s is %s", namespace, name, reason), func(ctx context.Context) (bool, error) {
		err := w.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)
		return found.Status.Reason == reason, client.IgnoreNotFound(err)
	})
	return found
}

// decide makes a decision, as the administrator; by is the annotation that the webhook would write.
func (w *world) decide(s *v1alpha1.TaskSubmission, action v1alpha1.DecisionAction, by map[string]string) {
	w.Helper()
	record := &v1alpha1.TaskRecord{}
	uid := s.UID
	if s.Status.RecordName != "" {
		w.must(w.client.Get(w.Context(), client.ObjectKey{Namespace: s.Namespace, Name: s.Status.RecordName}, record))
		uid = record.UID
	}
	decision := &v1alpha1.TaskDecision{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name + "-" + strings.ToLower(string(action)), Annotations: by}}
	decision.Spec = v1alpha1.TaskDecisionSpec{Submission: s.Name, UID: uid, Attempt: s.Status.Attempts, Action: action, Reason: "the test says so"}
	if action == v1alpha1.DecisionApprove {
		template := &v1alpha1.TaskTemplate{}
		w.must(w.client.Get(w.Context(), client.ObjectKey{Namespace: s.Namespace, Name: s.Spec.TemplateRef.Name}, template))
		decision.Spec.TemplateDigest = template.Status.EffectDigest
	}
	w.must(w.client.Create(w.Context(), decision))
}

// mainJob has everything done once that the operator is there for, and looks whether it was.
func (w *world) mainJob(by map[string]string) (namespace string) {
	w.Helper()
	namespace = w.newNamespace()
	w.mainJobIn(namespace, by)
	return namespace
}

func (w *world) mainJobIn(namespace string, by map[string]string) {
	w.Helper()
	w.install(namespace)
	w.submit(namespace, "pay-1", "pay", "1001")
	w.submit(namespace, "pay-1", "pay", "1001")
	w.reaches(namespace, "pay-1", v1alpha1.ReasonApplied)
	w.submit(namespace, "pay-1-again", "pay", "1001")
	w.submit(namespace, "approve-1", "approve", "1")
	w.submit(namespace, "lost-1", "lost", "1")
	w.submit(namespace, "brief-1", "brief", "1")
	w.submit(namespace, "fleeting-1", "fleeting", "1")
	w.submit(namespace, "missing-1", "missing", "1")
	w.reaches(namespace, "pay-1-again", v1alpha1.ReasonAlreadyApplied)
	w.decide(w.reaches(namespace, "approve-1", v1alpha1.ReasonAwaitingApproval), v1alpha1.DecisionApprove, by)
	w.reaches(namespace, "approve-1", v1alpha1.ReasonApplied)
	w.decide(w.reaches(namespace, "fleeting-1", v1alpha1.ReasonAwaitingApproval), v1alpha1.DecisionApprove, by)
	w.reaches(namespace, "missing-1", v1alpha1.ReasonTemplateNotFound)
	w.decide(w.reaches(namespace, "lost-1", v1alpha1.ReasonOutcomeUnknown), v1alpha1.DecisionConfirmApplied, by)
	w.reaches(namespace, "lost-1", v1alpha1.ReasonConfirmedApplied)
	w.leavesNothing(namespace)
	w.once(namespace, "pay-1", "approve-1", "lost-1", "fleeting-1")
	w.tellsNoSecret()
}

// leavesNothing waits until the brief one has gone with its Job, and the fleeting one with its record and its decision.
func (w *world) leavesNothing(namespace string) {
	w.Helper()
	for _, gone := range []client.Object{
		named(&v1alpha1.TaskSubmission{}, namespace, "brief-1"), named(&v1alpha1.TaskSubmission{}, namespace, "fleeting-1"),
		named(&v1alpha1.TaskRecord{}, namespace, v1alpha1.RecordName("fleeting-1")), named(&v1alpha1.TaskDecision{}, namespace, "fleeting-1-approve"),
	} {
		w.await(fmt.Sprintf("%T %s is gone", gone, gone.GetName()), func(ctx context.Context) (bool, error) {
			err := w.client.Get(ctx, client.ObjectKeyFromObject(gone), gone)
			return err != nil, client.IgnoreNotFound(err)
		})
	}
	w.await("the Job is gone", func(ctx context.Context) (bool, error) {
		jobs := &batchv1.JobList{}
		err := w.client.List(ctx, jobs, client.InNamespace(namespace))
		return len(jobs.Items) == 0, err
	})
}

func named(object client.Object, namespace, name string) client.Object {
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// once says whether just these had an effect, each one.
func (w *world) once(namespace string, names ...string) {
	w.Helper()
	want := map[string]int{}
	for _, name := range names {
		want[name] = 1
	}
	if got := w.effects(namespace); !maps.Equal(got, want) {
		w.Errorf("the receiver has had %v, want each once of %v", got, slices.Sorted(maps.Keys(want)))
	}
}

// tellsNoSecret looks for the Secret in everything that the operator has written.
func (w *world) tellsNoSecret() {
	w.Helper()
	for _, path := range w.node.logs() {
		if text := readFile(w.T, path); strings.Contains(text, secret) {
			w.Errorf("%s tells the Secret", path)
		}
	}
	out := w.sh("kubectl get tasksubmissions,tasktemplates,taskrecords,taskdecisions,events -A -o yaml")
	if strings.Contains(out, secret) {
		w.Error("an object tells the Secret")
	}
}
