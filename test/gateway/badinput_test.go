package gateway_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// newWorldWithoutWebhooks is one in which nothing is looked at before it is created.
func newWorldWithoutWebhooks(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	if err := w.admin.Patch(t.Context(), namespace, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"`+withoutWebhooks+`":""}}}`))); err != nil {
		t.Fatal(err)
	}
	w.template("award", "/plain/points", schema)
	bad := &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "bad"}}
	bad.Spec.TemplateRef.Name, bad.Spec.Parameters.Raw = "award", []byte(`{"order":7}`)
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return w.admin.Create(ctx, bad.DeepCopy(), client.DryRunAll) == nil, nil
	}); err != nil {
		t.Fatalf("the webhook is still asked: %v", err)
	}
	return w
}

const wrongOrder, otherOrder = `{"template":"award","parameters":{"order":7}}`, `{"template":"award","parameters":{"order":"8"}}`

// TestBadInputHoldsNoKeyI10: where no webhook refuses it, what fails for its input makes way for what is corrected; and
// another action under a key that is used keeps nobody from the outcome of the one that was done (I6).
func TestBadInputHoldsNoKeyI10(t *testing.T) {
	t.Parallel()
	for mode, gateway := range map[string]string{"pass-through": installation.passing, "OIDC": installation.verifying} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorldWithoutWebhooks(t)
			token := w.token
			if mode == "OIDC" {
				token = installation.issuer.of(t, "stu-7")
			}
			w.expect(400, "invalid-parameters", gateway, token, submits("corrected", "award", saying(wrongOrder)))
			w.expect(400, "invalid-parameters", gateway, token, submits("corrected", "award", saying(wrongOrder)))
			w.expect(201, "", gateway, token, submits("corrected", "award"))

			w.expect(201, "", gateway, token, submits("first", "award"))
			deleted("first")(w)
			if refused := w.expect(422, "key-reused", gateway, token, submits("first", "award", saying(otherOrder))); refused.Submission == nil || refused.Submission.Reason != "KeyReused" {
				t.Errorf("it was refused before it was created: %+v", refused)
			}
			if again := w.send(gateway, token, submits("first", "award")); again.status != 201 || again.header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("whoever was first gets %d: %s", again.status, again.body)
			}
			for _, name := range []string{"corrected", "first"} {
				if n := w.effects(name); n != 1 {
					t.Errorf("%s had %d effects", name, n)
				}
			}
		})
	}
}

// blocked asks as a caller who may not delete what failed for its input.
func blocked(w *world) answered {
	bare := newWorldWithoutWebhooks(w.T)
	bare.expect(400, "invalid-parameters", installation.passing, bare.token, submits("taken", "award", saying(wrongOrder)))
	bare.create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "creator"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"taskonce.dev"}, Resources: []string{"tasksubmissions"}, Verbs: []string{"create", "get", "watch"}},
	}})
	token := bare.account("creator")
	bare.create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "creator"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "creator"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: bare.namespace, Name: "creator"}},
	})
	got := bare.send(installation.passing, token, submits("taken", "award"))
	if detail := got.said(w.T).Detail; !strings.Contains(detail, "taken") || !strings.Contains(detail, "InvalidParameters") {
		w.Errorf("what stands in the way is not named: %q", detail)
	}
	bare.expect(201, "", installation.passing, bare.token, submits("taken", "award"))
	return got
}
