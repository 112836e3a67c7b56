package admission_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/taskonce/taskonce/test/harness"
)

// adminName is who envtest's administrator is.
const adminName = "admin"

func unusedAddress() string {
	GinkgoHelper()
	address, err := harness.UnusedAddress()
	Expect(err).NotTo(HaveOccurred())
	return address
}

func decode(manifest string) *unstructured.Unstructured {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal([]byte(manifest), &object.Object)).To(Succeed())
	return object
}

// grant binds a role that comes with the operator to a person.
func grant(namespace, person, role string) {
	GinkgoHelper()
	run(namespace, "", "create", "rolebinding", person+"-"+role, "--clusterrole="+role, "--user="+person)
}

var _ = Describe("Who did what", func() {
	var namespace string
	BeforeEach(func() {
		namespace = newNamespace(work())
		grant(namespace, "ann", "taskonce-submitter")
		grant(namespace, "bob", "taskonce-submitter")
		grant(namespace, "bob", "taskonce-approver")
	})
	theirs := submission{name: "grant-42", template: "work", parameters: `{"order":"7"}`}
	annotation := func(kind, name, which string) string {
		return run(namespace, "", "get", kind, name, `-o=jsonpath={.metadata.annotations.taskonce\.dev/`+which+`}`)
	}

	It("is the submitter's name, which a replace gets back and nobody can change", func() {
		run(namespace, theirs.manifest(), "create", "--as=ann", "-f", "-")
		Expect(annotation("tasksubmission", "grant-42", "submitted-by")).To(Equal("ann"))
		run(namespace, theirs.manifest(), "replace", "--as=bob", "-f", "-")
		Expect(annotation("tasksubmission", "grant-42", "submitted-by")).To(Equal("ann"))
		Expect(refused(namespace, "", "annotate", "--as=bob", "--overwrite", "tasksubmission", "grant-42", "taskonce.dev/submitted-by=bob")).
			To(ContainSubstring("cannot be changed"))
		run(namespace, "", "annotate", "--as=bob", "tasksubmission", "grant-42", "taskonce.dev/submitted-by-") // it comes back
		Expect(annotation("tasksubmission", "grant-42", "submitted-by")).To(Equal("ann"))
	})

	It("cannot be claimed afterwards for what came in while the webhook was down", func() {
		door.close()
		DeferCleanup(func() { door.open() })
		run(namespace, theirs.manifest(), "create", "--as=ann", "-f", "-")
		Expect(annotation("tasksubmission", "grant-42", "submitted-by")).To(BeEmpty())
		Expect(refused(namespace, "", "annotate", "--as=bob", "tasksubmission", "grant-42", "taskonce.dev/submitted-by=bob")).
			To(ContainSubstring("cannot be changed"))
	})

	It("is the decider's name, with what is approved", func() {
		apply(namespace, template("work", map[string]any{"approval": map[string]any{"required": true}}))
		run(namespace, theirs.manifest(), "create", "--as=ann", "-f", "-")
		stands(namespace, "grant-42", "Pending/AwaitingApproval")
		approve := decision("yes", "Approve", namespace, "grant-42")
		forged := decode(approve)
		forged.SetAnnotations(map[string]string{"taskonce.dev/decided-by": "ann"})
		raw, err := forged.MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		Expect(refused(namespace, string(raw), "create", "--as=bob", "-f", "-")).To(ContainSubstring("you are bob"))
		run(namespace, approve, "create", "--as=bob", "-f", "-")
		Expect(annotation("taskdecision", "yes", "decided-by")).To(Equal("bob"))
		Expect(run(namespace, "", "get", "taskdecision", "yes", "-o=jsonpath={.spec.templateDigest}")).To(HavePrefix("sha256:"))
		stands(namespace, "grant-42", "Success/Applied")
		run(namespace, approve, "replace", "-f", "-") // drops the annotation, which comes back
		Expect(annotation("taskdecision", "yes", "decided-by")).To(Equal("bob"))
		Expect(refused(namespace, "", "annotate", "--overwrite", "taskdecision", "yes", "taskonce.dev/decided-by=ann")).To(ContainSubstring("cannot be changed"))
	})

	It("is needed: without the webhook no decision is made", func() {
		run(namespace, theirs.manifest(), "create", "--as=ann", "-f", "-")
		cancel := decision("no", "Cancel", namespace, "grant-42")
		door.close()
		DeferCleanup(func() { door.open() })
		Expect(refused(namespace, cancel, "create", "--as=bob", "-f", "-")).To(ContainSubstring(`failed calling webhook "decisions.taskonce.dev"`))
	})
})
