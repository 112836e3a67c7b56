package gateway_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

const forStudent = `{"template":"award","parameters":{"order":"7","student":"stu-7"}}`

func ownTasks(s *v1alpha1.TaskTemplateSpec) {
	s.Access = "claims.sub == params.student || 'teacher' in claims.roles"
}

// TestAccess binds what people may submit and read to what their tokens say.
func TestAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("award", "/plain/points", schema, ownTasks)
	student, other := installation.issuer.of(t, "stu-7"), installation.issuer.of(t, "stu-8")
	teacher := installation.issuer.token(t, installation.issuer.Key, map[string]any{"sub": "ms-lee", "roles": []string{"teacher"}})
	gateway := installation.verifying

	w.expect(403, "forbidden", gateway, other, submits("task", "award", saying(forStudent)))
	w.expect(201, "", gateway, student, submits("task", "award", saying(forStudent)))
	w.expect(201, "", gateway, teacher, submits("task", "award", saying(forStudent)))
	w.expect(403, "forbidden", gateway, other, submits("task", "award", saying(forStudent)))
	w.expect(403, "forbidden", gateway, student, submits("task", "no-such-template", saying(`{"template":"no-such-template"}`)))
	for _, path := range []string{"/task", "?idempotencyKey=task"} {
		w.expect(200, "", gateway, student, reads(path))
		w.expect(200, "", gateway, teacher, reads(path))
		w.expect(403, "forbidden", gateway, other, reads(path))
	}
	w.expect(403, "forbidden", gateway, other, reads("/task/events"))
	if by := w.submission("task").Annotations; by[v1alpha1.AnnotationOnBehalfOf] != installation.issuer.URL+"#stu-7" || by[v1alpha1.AnnotationSubmittedBy] != "system:serviceaccount:taskonce-system:taskonce-gateway" {
		t.Errorf("it was submitted for %q by %q", by[v1alpha1.AnnotationOnBehalfOf], by[v1alpha1.AnnotationSubmittedBy])
	}
	if n := w.effects("task"); n != 1 {
		t.Errorf("%d effects", n)
	}

	// Without its template, who submitted it is still told, and nobody else.
	if err := w.admin.Delete(w.Context(), &v1alpha1.TaskTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "award"}}); err != nil {
		t.Fatal(err)
	}
	w.expect(200, "", gateway, student, reads("/task"))
	w.expect(403, "forbidden", gateway, teacher, reads("/task"))
	if again := w.send(gateway, student, submits("task", "award", saying(forStudent))); again.status != 201 || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("who sends it again gets %d: %s", again.status, again.body)
	}
	w.expect(403, "forbidden", gateway, student, submits("task", "award", saying(`{"template":"award","parameters":{"order":"8","student":"stu-7"}}`)))
	w.expect(403, "forbidden", gateway, teacher, submits("task", "award", saying(forStudent)))
}

// TestWhatTheClusterRefuses, other than for the gateway's rights, is told to the caller: here a quota.
func TestWhatTheClusterRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("award", "/plain/points", schema)
	none := corev1.ResourceList{"count/tasksubmissions.taskonce.dev": resource.MustParse("0")}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: none}}
	w.create(quota)
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none} // as its controller would write it
	if err := w.admin.Status().Update(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	s := &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "task"}}
	s.Spec.TemplateRef.Name, s.Spec.Parameters.Raw = "award", []byte(`{"order":"7"}`)
	w.until("the quota to hold", func() bool {
		return apierrors.IsForbidden(w.admin.Create(t.Context(), s.DeepCopy(), client.DryRunAll))
	})
	refused := w.expect(403, "forbidden", installation.verifying, installation.issuer.of(t, "stu-7"), submits("task", "award"))
	if !strings.Contains(refused.Detail, "the cluster refused it: ") || !strings.Contains(refused.Detail, "quota") {
		t.Errorf("it says %q", refused.Detail)
	}
}

// TestAccessThatIsNotStated lets everybody submit, and read what is their own.
func TestAccessThatIsNotStated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("award", "/plain/points", schema)
	student, other := installation.issuer.of(t, "stu-7"), installation.issuer.of(t, "stu-8")
	gateway := installation.verifying

	w.expect(201, "", gateway, student, submits("task", "award"))
	w.expect(201, "", gateway, student, submits("task", "award"))
	w.expect(201, "", gateway, other, submits("own", "award"))
	if refused := w.expect(403, "not-told", gateway, other, submits("task", "award")); refused.Submission != nil {
		t.Errorf("who sends another's action again is shown it: %+v", refused.Submission)
	}
	for _, path := range []string{"/task", "?idempotencyKey=task"} {
		w.expect(200, "", gateway, student, reads(path))
		w.expect(403, "forbidden", gateway, other, reads(path))
	}
	w.expect(403, "forbidden", gateway, other, reads("/task/events"))
}

// TestTokens that the issuer would not stand by are refused.
func TestTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("award", "/plain/points")
	i := installation.issuer
	forger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for reason, token := range map[string]string{
		"another key":      i.token(t, forger, map[string]any{"sub": "stu-7"}),
		"another audience": i.token(t, i.Key, map[string]any{"sub": "stu-7", "aud": "bank"}),
		"another issuer":   i.token(t, i.Key, map[string]any{"sub": "stu-7", "iss": "https://elsewhere.example"}),
		"it has ended":     i.token(t, i.Key, map[string]any{"sub": "stu-7", "exp": time.Now().Add(-time.Hour).Unix()}),
		"no subject":       i.token(t, i.Key, nil),
		"no token at all":  "stu-7",
		"the API server's": w.token,
	} {
		if got := w.send(installation.verifying, token, submits("task", "award")); got.status != 401 || got.said(t).Type != "unauthenticated" {
			t.Errorf("%s: %d %s", reason, got.status, got.body)
		}
	}
	w.expect(404, "not-found", installation.verifying, i.of(t, "stu-7"), reads("/task"))
	// The gateway serves the namespaces that it was given.
	elsewhere := newWorld(t)
	if err := elsewhere.admin.DeleteAllOf(t.Context(), rolebinding(), client.InNamespace(elsewhere.namespace)); err != nil {
		t.Fatal(err)
	}
	w.until("the rights to be gone", func() bool {
		return elsewhere.send(installation.verifying, i.of(t, "stu-7"), reads("/task")).status != http.StatusNotFound
	})
	if refused := elsewhere.expect(403, "forbidden", installation.verifying, i.of(t, "stu-7"), reads("/task")); strings.Contains(refused.Detail, "system:") {
		t.Errorf("a caller is told of the gateway's account: %s", refused.Detail)
	}
}

// TestOnBehalf: on whose behalf something is submitted is said by holders of the verb, at the create, and by nobody else.
func TestOnBehalf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config := rest.AnonymousClientConfig(installation.plane.Config)
	config.BearerToken = w.token
	application, err := client.New(config, client.Options{Scheme: w.admin.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	submission := func(name string, annotations map[string]string) *v1alpha1.TaskSubmission {
		s := &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name, Annotations: annotations}}
		s.Spec.TemplateRef.Name = "award"
		return s
	}
	forSomebody := map[string]string{v1alpha1.AnnotationOnBehalfOf: "stu-7"}
	if err := application.Create(t.Context(), submission("claimed", forSomebody)); !apierrors.IsForbidden(err) {
		t.Errorf("an application says on whose behalf: %v", err)
	}
	own := submission("own", nil)
	if err := application.Create(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	said := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+v1alpha1.AnnotationOnBehalfOf+`":"stu-7"}}}`))
	if err := w.admin.Patch(t.Context(), own, said); !apierrors.IsForbidden(err) {
		t.Errorf("an administrator says it afterwards: %v", err)
	}
	if err := w.admin.Create(t.Context(), submission("granted", forSomebody)); err != nil {
		t.Errorf("who holds every verb: %v", err)
	}
}
