package admission_test

import (
	"fmt"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/telemetry"
)

// duplicates returns how many were counted of a template.
func duplicates(template, found string) float64 {
	return testutil.ToFloat64(telemetry.Duplicates.WithLabelValues(template, found))
}

// unique makes a template's name that no other spec counts under.
var unique = func() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("counted-%d", n) }
}()

var _ = Describe("A key that is submitted again", func() {
	const first, other = `{"order":"7","points":1}`, `{"order":"7","points":2,"card":{"number":"4111"}}`
	var namespace, counted string
	var again submission
	BeforeEach(func() {
		counted = unique()
		again = submission{name: "grant-42", template: counted, parameters: first}
	})
	// expectDuplicates creates the same and another action, and expects the answer and the count.
	expectDuplicates := func(phase, standing string) {
		GinkgoHelper()
		before, mismatches := duplicates(counted, phase), duplicates(counted, "mismatch")
		said := refused(namespace, again.manifest(), "create", "-f", "-")
		Expect(said).To(And(ContainSubstring("Warning: this action is known"), ContainSubstring(standing), ContainSubstring("AlreadyExists")))
		another := again
		another.parameters = other
		said = refused(namespace, another.manifest(), "create", "-f", "-")
		Expect(said).To(And(ContainSubstring("KeyReused: this key belongs to a different action"), ContainSubstring(standing),
			ContainSubstring("spec.parameters.card, spec.parameters.points"), Not(ContainSubstring("4111"))))
		run(namespace, again.manifest(), "apply", "--dry-run=server", "-f", "-") // an update: neither counted nor warned of
		kubectl(namespace, again.manifest(), "create", "--dry-run=server", "-f", "-")
		Expect(duplicates(counted, phase)).To(Equal(before + 1))
		Expect(duplicates(counted, "mismatch")).To(Equal(mismatches + 1))
	}

	It("is answered while it is Pending", func() {
		namespace = newNamespace(template(counted, map[string]any{"suspend": true}))
		Expect(create(namespace, again.manifest())).To(ContainSubstring("is suspended: the submission waits"))
		stands(namespace, "grant-42", "Pending/TemplateSuspended")
		expectDuplicates("pending", "Pending/TemplateSuspended")
	})

	It("is answered while it is Processing", func() {
		namespace = newNamespace(template(counted, map[string]any{"effect": map[string]any{"http": map[string]any{
			"method": "POST", "url": "http://" + unusedAddress(),
		}}, "retry": map[string]any{"initialDelay": "1h", "maxDelay": "1h"}}))
		create(namespace, again.manifest())
		stands(namespace, "grant-42", "Processing/Retrying")
		expectDuplicates("processing", "Processing/Retrying")
	})

	It("is answered when it has finished, and after it was deleted", func() {
		namespace = newNamespace(template(counted, nil))
		create(namespace, again.manifest())
		stands(namespace, "grant-42", "Success/Applied")
		expectDuplicates("success", "Success/Applied")

		run(namespace, "", "delete", "tasksubmission", "grant-42")
		another := again
		another.parameters = other
		Expect(refused(namespace, another.manifest(), "create", "-f", "-")).To(ContainSubstring("KeyReused: this key belongs to a different action"))
		Expect(create(namespace, again.manifest())).To(ContainSubstring("Warning: this action is known"))
		stands(namespace, "grant-42", "Success/Applied")
		Expect(get(namespace, "grant-42").Status.Replayed).To(BeTrue())
		Expect(receiver.of(namespace, "grant-42")).To(Equal(1))
	})

	It("is judged by what it was, and not by a template that was edited since (hazard 10)", func() {
		namespace = newNamespace(template(counted, nil))
		create(namespace, again.manifest())
		stands(namespace, "grant-42", "Success/Applied")
		run(namespace, "", "delete", "tasksubmission", "grant-42")
		apply(namespace, template(counted, map[string]any{"parametersSchema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}))
		create(namespace, again.manifest())
		stands(namespace, "grant-42", "Success/Applied")
	})

	It("costs one live read, and none where the cache knows it", func() {
		namespace = newNamespace(template(counted, map[string]any{"suspend": true}), work())
		Expect(readsOf(func() { create(namespace, submission{name: "fresh", template: "work", parameters: first}.manifest()) })).To(Equal(int32(1)))
		create(namespace, again.manifest())
		stands(namespace, "grant-42", "Pending/TemplateSuspended")
		Expect(readsOf(func() { refused(namespace, again.manifest(), "create", "-f", "-") })).To(BeZero())
	})

	It("is no duplicate when it is applied or replaced unchanged: no warning, no write, no second effect", func() {
		namespace = newNamespace(template(counted, nil))
		run(namespace, again.manifest(), "apply", "--server-side", "-f", "-")
		stands(namespace, "grant-42", "Success/Applied")
		version := get(namespace, "grant-42").ResourceVersion
		for _, args := range [][]string{{"apply", "--server-side"}, {"replace"}} {
			said := run(namespace, again.manifest(), append(args, "-f", "-")...)
			Expect(said).NotTo(ContainSubstring("Warning"))
			Expect(get(namespace, "grant-42").ResourceVersion).To(Equal(version), strings.Join(args, " "))
		}
		Expect(get(namespace, "grant-42").Annotations).To(HaveKeyWithValue(v1alpha1.AnnotationSubmittedBy, adminName))
		run(namespace, again.manifest(), "replace", "--force", "-f", "-")
		stands(namespace, "grant-42", "Success/Applied")
		Expect(receiver.of(namespace, "grant-42")).To(Equal(1))
	})

	It("is applied by the client's side without a warning, too", func() {
		namespace = newNamespace(template(counted, nil))
		apply(namespace, again.manifest())
		stands(namespace, "grant-42", "Success/Applied")
		version := get(namespace, "grant-42").ResourceVersion
		Expect(apply(namespace, again.manifest())).To(And(ContainSubstring("unchanged"), Not(ContainSubstring("Warning"))))
		Expect(get(namespace, "grant-42").ResourceVersion).To(Equal(version))
	})

	It("cannot be edited into another action", func() {
		namespace = newNamespace(template(counted, nil))
		create(namespace, again.manifest())
		stands(namespace, "grant-42", "Success/Applied")
		another := again
		another.parameters = other
		Expect(refused(namespace, another.manifest(), "replace", "-f", "-")).To(ContainSubstring("submit another action under a new key"))
		Expect(refused(namespace, another.manifest(), "apply", "--server-side", "--force-conflicts", "-f", "-")).To(ContainSubstring("submit another action under a new key"))
	})

	It("is created once by a burst with generateName, under the name of its key", func() {
		namespace = newNamespace(template(counted, nil))
		const clients, key = 12, "burst:42"
		burst := submission{generateName: "burst-", key: key, template: counted, parameters: first}
		var all sync.WaitGroup
		var mu sync.Mutex
		created := 0
		for range clients {
			all.Go(func() {
				defer GinkgoRecover()
				object := decode(burst.manifest())
				object.SetNamespace(namespace)
				if err := admin.Create(ctx, object); err == nil {
					mu.Lock()
					created++
					mu.Unlock()
					Expect(object.GetGenerateName()).To(BeEmpty())
				}
			})
		}
		all.Wait()
		Expect(created).To(Equal(1))
		stands(namespace, nameOf(key), "Success/Applied")
		Expect(receiver.in(namespace)).To(Equal(1))
	})
})

func readsOf(what func()) int32 {
	GinkgoHelper()
	before := door.reads.n.Load()
	what()
	return door.reads.n.Load() - before
}

var _ = Describe("A record", func() {
	It("carries who submitted and who approved", func() {
		namespace := newNamespace(template("work", map[string]any{"approval": map[string]any{"required": true, "distinctFromSubmitter": true}}))
		grant(namespace, "ann", "taskonce-submitter")
		grant(namespace, "bob", "taskonce-approver")
		grant(namespace, "ann", "taskonce-approver")
		run(namespace, submission{name: "grant-42", template: "work", parameters: `{}`}.manifest(), "create", "--as=ann", "-f", "-")
		stands(namespace, "grant-42", "Pending/AwaitingApproval")
		run(namespace, decision("own", "Approve", namespace, "grant-42"), "create", "--as=ann", "-f", "-")
		Eventually(func() string { return run(namespace, "", "get", "taskdecision", "own", "-o=jsonpath={.status.state}") }).Should(Equal("Refused"))
		run(namespace, decision("another", "Approve", namespace, "grant-42"), "create", "--as=bob", "-f", "-")
		stands(namespace, "grant-42", "Success/Applied")
		kept := &v1alpha1.TaskRecord{}
		Expect(admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: v1alpha1.RecordName("grant-42")}, kept)).To(Succeed())
		Expect(kept.Spec.Action.Submitter).To(Equal("ann"))
		Expect(kept.Spec.Action.Approval.By).To(Equal("bob"))
	})
})

// decision makes one about the attempt of a submission that nothing was begun for.
func decision(name, action, namespace, submission string) string {
	GinkgoHelper()
	return object("TaskDecision", map[string]any{"name": name},
		map[string]any{"submission": submission, "uid": get(namespace, submission).UID, "attempt": 0, "action": action, "reason": "it is in order"})
}
