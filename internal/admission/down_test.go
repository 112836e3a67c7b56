package admission_test

import (
	"crypto/tls"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/util/cert"
)

var _ = Describe("Submissions", func() {
	good := func(i int) submission {
		return submission{name: fmt.Sprintf("grant-%d", i), template: "work", parameters: `{"order":"7"}`}
	}

	It("go on while the webhook's server stops and starts", func() {
		namespace := newNamespace(work())
		create(namespace, good(1).manifest())
		door.close()
		create(namespace, good(2).manifest())
		door.open()
		create(namespace, good(3).manifest())
		for i := 1; i <= 3; i++ {
			stands(namespace, good(i).name, "Success/Applied")
			Expect(receiver.of(namespace, good(i).name)).To(Equal(1))
		}
		Expect(get(namespace, "grant-2").Annotations).To(BeEmpty())
	})

	It("go on when the certificate has expired, with the same verdicts; templates wait", func() {
		namespace := newNamespace(work())
		chain, key, err := cert.GenerateSelfSignedCertKeyWithOptions(cert.SelfSignedCertKeyOptions{Host: webhookHost, MaxAge: 30 * time.Minute})
		Expect(err).NotTo(HaveOccurred())
		expired, err := tls.X509KeyPair(chain, key) // made an hour ago, as of its own clock
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() {
			door.close()
			door.serving.Store(nil)
			door.open()
		})
		door.close()
		door.serving.Store(&expired)
		door.open()
		create(namespace, good(1).manifest())
		stands(namespace, "grant-1", "Success/Applied")
		create(namespace, submission{name: "grant-2", template: "work", parameters: `{"order":7}`}.manifest())
		stands(namespace, "grant-2", "Failed/InvalidParameters")
		Expect(refused(namespace, template("another", nil), "create", "-f", "-")).To(ContainSubstring("certificate has expired"))
	})
})
