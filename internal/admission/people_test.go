package admission_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/taskonce/taskonce/api/v1alpha1"
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

// creates is what whoever has a role that comes with the operator may create.
var creates = map[string]string{"taskonce-submitter": "tasksubmissions", "taskonce-approver": "taskdecisions", "taskonce-template-editor": "tasktemplates"}

// grant binds a role that comes with the operator to a person, and returns when the API server has heard of it.
func grant(namespace, person, role string) {
	GinkgoHelper()
	run(namespace, "", "create", "rolebinding", person+"-"+role, "--clusterrole="+role, "--user="+person)
	right := harness.Right{Namespace: namespace, Group: v1alpha1.GroupVersion.Group, Resource: creates[role], Verb: "create"}
	Expect(plane.AwaitRight(ctx, person, right)).To(Succeed())
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
		stands(namespace, "grant-42", "Success/Applied")
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
		Eventually(run).WithArguments(namespace, "", "get", "taskdecision", "yes", "-o=jsonpath={.status.state}").
			Should(Equal("Applied"), "else the operator may write that between kubectl's read and its write")
		run(namespace, approve, "replace", "-f", "-") // drops the annotation, which comes back
		Expect(annotation("taskdecision", "yes", "decided-by")).To(Equal("bob"))
		Expect(refused(namespace, "", "annotate", "--overwrite", "taskdecision", "yes", "taskonce.dev/decided-by=ann")).To(ContainSubstring("cannot be changed"))
	})

	Describe("where the approver must be another person", func() {
		approved := func(name string) string {
			return run(namespace, "", "get", "taskdecision", name, "-o=jsonpath={.status.state}: {.status.message}")
		}
		BeforeEach(func() {
			apply(namespace, template("work", map[string]any{"approval": map[string]any{"required": true, "distinctFromSubmitter": true}}))
			run(namespace, "", "create", "rolebinding", "approvers", "--clusterrole=taskonce-approver", "--group=approvers")
		})

		It("lets no member of a group of approvers approve what they submitted", func() {
			run(namespace, theirs.manifest(), "create", "--as=ann", "--as-group=approvers", "-f", "-")
			stands(namespace, "grant-42", "Pending/AwaitingApproval")
			run(namespace, decision("own", "Approve", namespace, "grant-42"), "create", "--as=ann", "--as-group=approvers", "-f", "-")
			Eventually(approved).WithArguments("own").Should(Equal("Refused: who submitted it cannot approve it"))
			Expect(receiver.of(namespace, "grant-42")).To(BeZero())
			run(namespace, decision("another", "Approve", namespace, "grant-42"), "create", "--as=cem", "--as-group=approvers", "-f", "-")
			stands(namespace, "grant-42", "Success/Applied")
			Expect(run(namespace, "", "get", "taskrecords", "-o=jsonpath={.items[0].spec.action.submitter} {.items[0].spec.action.approval.by}: {.items[0].spec.action.approval.reason}")).
				To(Equal("ann cem: it is in order"))
			Expect(run(namespace, "", "get", "taskrecords", "-o=jsonpath={.items[0].spec.action.approval.at}")).NotTo(BeEmpty())
		})

		It("waits for ever where the submitter is unknown, since the webhook was down", func() {
			door.close()
			run(namespace, theirs.manifest(), "create", "--as=ann", "-f", "-")
			door.open()
			stands(namespace, "grant-42", "Pending/AwaitingApproval")
			run(namespace, decision("yes", "Approve", namespace, "grant-42"), "create", "--as=bob", "-f", "-")
			run(namespace, theirs.manifest(), "apply", "--as=bob", "-f", "-") // which names nobody either
			Eventually(func() string { return get(namespace, "grant-42").Status.Message }).Should(ContainSubstring("the submitter is unknown"))
			Expect(approved("yes")).To(Equal("Pending:"))
			Expect(receiver.of(namespace, "grant-42")).To(BeZero())
		})
	})

	It("stays as it was decided, however often it is applied", func() {
		apply(namespace, template("work", map[string]any{"approval": map[string]any{"required": true}}))
		for i, how := range [][]string{{"apply", "--as=bob", "-f", "-"}, {"apply", "--server-side", "-f", "-"}} { // the latter needs the right to patch
			one := submission{name: fmt.Sprintf("grant-%d", i), template: "work", parameters: `{"order":"7"}`}
			run(namespace, one.manifest(), "create", "--as=ann", "-f", "-")
			stands(namespace, one.name, "Pending/AwaitingApproval")
			yes := decision("yes-"+one.name, "Approve", namespace, one.name)
			run(namespace, yes, how...)
			stands(namespace, one.name, "Success/Applied")
			said := func() string { // a sweep may label it
				return run(namespace, "", "get", "taskdecision", "yes-"+one.name, `-o=jsonpath={.spec} {.status.state} {.metadata.annotations.taskonce\.dev/decided-by}`)
			}
			Eventually(said).Should(MatchRegexp(`sha256:.* Applied \w+$`))
			before := said()
			run(namespace, yes, how...)
			Expect(said()).To(Equal(before))
		}
	})

	It("is needed: without the webhook no decision is made", func() {
		run(namespace, theirs.manifest(), "create", "--as=ann", "-f", "-")
		cancel := decision("no", "Cancel", namespace, "grant-42")
		door.close()
		DeferCleanup(func() { door.open() })
		Expect(refused(namespace, cancel, "create", "--as=bob", "-f", "-")).To(ContainSubstring(`failed calling webhook "decisions.taskonce.dev"`))
	})
})
