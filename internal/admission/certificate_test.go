package admission_test

import (
	"crypto/tls"
	"crypto/x509"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/internal/admission/certificate"
)

var _ = Describe("The certificate", func() {
	const host = "webhooks.test.svc"
	var secret types.NamespacedName
	var clock *clocktesting.FakeClock
	replica := func(lifetime time.Duration) *certificate.Keeper {
		return &certificate.Keeper{Client: admin, Secret: secret, Host: host, Configurations: secret.Namespace, Lifetime: lifetime, Clock: clock}
	}
	served := func(k *certificate.Keeper) *x509.Certificate {
		GinkgoHelper()
		serving, err := k.GetCertificate(&tls.ClientHelloInfo{})
		Expect(err).NotTo(HaveOccurred())
		return serving.Leaf
	}
	trusted := func(leaf *x509.Certificate) error {
		GinkgoHelper()
		configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		Expect(admin.Get(ctx, client.ObjectKey{Name: secret.Namespace}, configuration)).To(Succeed())
		roots := x509.NewCertPool()
		Expect(roots.AppendCertsFromPEM(configuration.Webhooks[0].ClientConfig.CABundle)).To(BeTrue())
		_, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, CurrentTime: clock.Now()})
		return err
	}
	BeforeEach(func() {
		namespace := newNamespace()
		secret = types.NamespacedName{Namespace: namespace, Name: "certificate"}
		clock = clocktesting.NewFakeClock(time.Now())
		none, url := admissionregistrationv1.SideEffectClassNone, "https://localhost:1/"
		meta, called := metav1.ObjectMeta{Name: namespace}, admissionregistrationv1.WebhookClientConfig{URL: &url}
		mutating := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: meta, Webhooks: []admissionregistrationv1.MutatingWebhook{
			{Name: "a.taskonce.dev", ClientConfig: called, SideEffects: &none, AdmissionReviewVersions: []string{"v1"}},
		}}
		validating := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: meta, Webhooks: []admissionregistrationv1.ValidatingWebhook{
			{Name: "b.taskonce.dev", ClientConfig: called, SideEffects: &none, AdmissionReviewVersions: []string{"v1"}},
		}}
		for _, configuration := range []client.Object{mutating, validating} {
			Expect(admin.Create(ctx, configuration)).To(Succeed())
			DeferCleanup(func() error { return admin.Delete(ctx, configuration) })
		}
	})

	It("is made once for all replicas, and trusted before it is served", func() {
		first, second := replica(certificate.Lifetime), replica(certificate.Lifetime)
		_, err := first.GetCertificate(&tls.ClientHelloInfo{})
		Expect(err).To(MatchError(ContainSubstring("no certificate yet")))
		Expect(first.Look(ctx)).To(Succeed())
		Expect(second.Look(ctx)).To(Succeed())
		Expect(served(second).SerialNumber).To(Equal(served(first).SerialNumber))
		Expect(trusted(served(first))).To(Succeed())
		again := served(first)
		Expect(first.Look(ctx)).To(Succeed())
		Expect(served(first)).To(Equal(again), "nothing was due")
	})

	It("is renewed before it expires, without a moment in which what is served is not trusted", func() {
		renewing, behind := replica(2*time.Hour), replica(2*time.Hour) // valid for one hour more
		Expect(renewing.Look(ctx)).To(Succeed())
		Expect(behind.Look(ctx)).To(Succeed())
		old := served(renewing)

		clock.Step(30 * time.Minute) // a third of its life is left
		renewing.Lifetime = certificate.Lifetime
		Expect(renewing.Look(ctx)).To(MatchError(ContainSubstring("had time to trust it")))
		Expect(served(renewing)).To(Equal(old))
		Expect(trusted(old)).To(Succeed())
		Expect(renewing.Look(ctx)).To(Succeed())
		renewed := served(renewing)
		Expect(renewed.SerialNumber).NotTo(Equal(old.SerialNumber))
		Expect(trusted(renewed)).To(Succeed())
		Expect(trusted(served(behind))).To(Succeed(), "a replica that serves the last one")
		Expect(behind.Look(ctx)).To(Succeed())
		Expect(served(behind).SerialNumber).To(Equal(renewed.SerialNumber))

		clock.Step(time.Hour)
		Expect(trusted(old)).NotTo(Succeed())
		Expect(trusted(renewed)).To(Succeed())
	})

	It("is made again where somebody broke or removed it, or the Service has another name", func() {
		k := replica(certificate.Lifetime)
		Expect(k.Look(ctx)).To(Succeed())
		stored := &corev1.Secret{}
		Expect(admin.Get(ctx, secret, stored)).To(Succeed())
		stored.Data[corev1.TLSPrivateKeyKey] = []byte("broken")
		Expect(admin.Update(ctx, stored)).To(Succeed())
		Eventually(func() error { return k.Look(ctx) }).Should(Succeed())
		Expect(trusted(served(k))).To(Succeed())

		Expect(admin.Delete(ctx, stored)).To(Succeed())
		Eventually(func() error { return k.Look(ctx) }).Should(Succeed())
		Expect(trusted(served(k))).To(Succeed())

		moved := replica(certificate.Lifetime)
		moved.Host = "moved.test.svc"
		Expect(moved.Look(ctx)).To(Succeed())
		Expect(served(moved).DNSNames).To(ConsistOf("moved.test.svc"))
	})

	It("is served though nobody can be told whom to trust, which is an error that says what to do", func() {
		k := replica(certificate.Lifetime)
		k.Configurations = "missing"
		Expect(k.Look(ctx)).To(MatchError(ContainSubstring("apply config/webhook")))
		Expect(served(k)).NotTo(BeNil())
	})
})
