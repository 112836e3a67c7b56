package admission_test

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

var _ = Describe("A record that guards an effect", func() {
	It("is not deleted by a slip: hazard 20", func() {
		namespace := newNamespace(template("work", map[string]any{
			"businessKey": "${params.order}", "effect": map[string]any{"http": map[string]any{"method": "POST", "url": "http://" + unusedAddress()}},
			"retry": map[string]any{"initialDelay": "1h", "maxDelay": "1h"},
		}))
		create(namespace, submission{name: "grant-42", template: "work", parameters: `{"order":"7"}`}.manifest())
		stands(namespace, "grant-42", "Processing/Retrying")
		kept, claim := v1alpha1.RecordName("grant-42"), v1alpha1.ClaimName("work", "7")
		Expect(refused(namespace, "", "delete", "taskrecord", kept)).To(ContainSubstring("this record guards an action that has begun"))
		Expect(refused(namespace, "", "delete", "taskrecord", claim)).To(ContainSubstring("this claim holds the business key 7"))
		Expect(refused(namespace, "", "delete", "taskrecord", "--all")).To(ContainSubstring("taskonce.dev/forget"))
		run(namespace, "", "annotate", "taskrecord", claim, "taskonce.dev/forget=true")
		run(namespace, "", "delete", "taskrecord", claim)
		Expect(records(namespace)).To(Equal(1))

		run(namespace, "", "delete", "namespace", namespace, "--wait=false")
		run(namespace, "", "delete", "taskrecord", kept)
	})

	It("is deleted as before when it has finished", func() {
		namespace := newNamespace(work())
		create(namespace, submission{name: "grant-42", template: "work", parameters: `{"order":"7"}`}.manifest())
		stands(namespace, "grant-42", "Success/Applied")
		run(namespace, "", "delete", "taskrecord", "--all")
	})

	It("is let go by the operator itself: by a Release, and when its time is over", func() {
		namespace := newNamespace(template("work", map[string]any{"businessKey": "${params.order}", "retention": map[string]any{"recordTTL": "1s"}}))
		create(namespace, submission{name: "grant-42", template: "work", parameters: `{"order":"7"}`}.manifest())
		stands(namespace, "grant-42", "Success/Applied")
		Expect(records(namespace)).To(Equal(2))
		release := decode(decision("free", "Release", namespace, "grant-42"))
		Expect(unstructured.SetNestedField(release.Object, int64(1), "spec", "attempt")).To(Succeed())
		raw, err := release.MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		create(namespace, string(raw))
		Eventually(func() int { return records(namespace) }).Should(Equal(1))
		run(namespace, "", "delete", "tasksubmission", "grant-42")
		Eventually(func() int { return records(namespace) }).Should(BeZero())

		create(namespace, submission{name: "grant-43", template: "work", parameters: `{"order":"8"}`}.manifest())
		stands(namespace, "grant-43", "Success/Applied")
		run(namespace, "", "delete", "tasksubmission", "grant-43")
		Eventually(func() int { return records(namespace) }).Should(BeZero(), "the claim goes with its record")
	})
})
