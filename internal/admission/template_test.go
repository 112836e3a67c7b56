package admission_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A template", func() {
	http := func(more map[string]any) map[string]any {
		effect := map[string]any{"method": "POST", "url": "https://pay.example/charges"}
		maps.Copy(effect, more)
		return map[string]any{"http": effect}
	}
	schema := func(raw string) map[string]any {
		return map[string]any{"parametersSchema": map[string]any{"openAPIV3Schema": json.RawMessage(raw)}}
	}
	nested := "[1]"
	for range 12 {
		nested = "[1,2,3,4,5,6,7,8,9].map(x, " + nested + ")"
	}

	DescribeTable("is refused with the field that is wrong", func(edits map[string]any, says ...string) {
		said := refused(newNamespace(), template("wrong", edits), "create", "-f", "-")
		for _, part := range says {
			Expect(said).To(ContainSubstring(part))
		}
	},
		Entry("a schema that is itself invalid", schema(`{"type":"object","properties":{"n":{"type":"number","minimum":"one"}}}`), "spec.parametersSchema.openAPIV3Schema"),
		Entry("a schema of another dialect", schema(`{"type":"object","properties":{"n":{"$ref":"#/definitions/n"}}}`), "spec.parametersSchema.openAPIV3Schema"),
		Entry("an expression that is misspelt", map[string]any{"effect": http(map[string]any{"url": "https://pay.example/${params.}"})}, "spec.effect.http.url"),
		Entry("an expression whose cost explodes", map[string]any{"effect": http(map[string]any{"body": map[string]any{"all": "${" + nested + "}"}})}, "spec.effect.http.body", "cost"),
		Entry("a field that the schema does not have", map[string]any{
			"parametersSchema": map[string]any{"openAPIV3Schema": json.RawMessage(orderSchema)}, "businessKey": "${params.ordr}",
		}, "spec.businessKey", "ordr"),
		Entry("a key without an expression", map[string]any{"idempotencyKey": "always-the-same"}, "spec.idempotencyKey", "use the parameters"),
		Entry("a time-out out of bounds", map[string]any{"effect": http(map[string]any{"timeout": "1h"})}, "spec.effect.http.timeout", "must be between 100ms and 10m"),
		Entry("a limit out of bounds", map[string]any{"limits": map[string]any{"maxInFlight": 0}}, "spec.limits.maxInFlight"),
		Entry("no effect", map[string]any{"effect": map[string]any{}}, "spec.effect"),
		Entry("a conflict without a business key", map[string]any{"onBusinessKeyConflict": "Fail"}, "set businessKey"),
		Entry("another person than nobody", map[string]any{"approval": map[string]any{"distinctFromSubmitter": true}}, "set required to true"),
	)

	It("can be compiled, and then used", func() {
		namespace := newNamespace(work())
		create(namespace, submission{name: "grant-42", template: "work", parameters: `{"order":"7"}`}.manifest())
		stands(namespace, "grant-42", "Success/Applied")
	})

	It("needs an author with the rights that it uses", func() {
		namespace := newNamespace()
		grant(namespace, "ann", "taskonce-template-editor")
		header := func(secret string) map[string]any {
			return map[string]any{"effect": http(map[string]any{"headers": []any{map[string]any{
				"name": "X-Api-Key", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": secret, "key": "token"}},
			}}})}
		}
		said := refused(namespace, template("pay", header("pay")), "create", "--as=ann", "-f", "-")
		Expect(said).To(And(ContainSubstring("spec.effect.http.headers[0].valueFrom.secretKeyRef"), ContainSubstring("you may not get secrets pay")))

		run(namespace, "", "create", "role", "reads-pay", "--verb=get", "--resource=secrets", "--resource-name=pay")
		run(namespace, "", "create", "rolebinding", "ann-reads-pay", "--role=reads-pay", "--user=ann")
		Eventually(func() bool {
			ok, _ := kubectl(namespace, template("pay", header("pay")), "apply", "--as=ann", "-f", "-")
			return ok
		}).Should(BeTrue(), "the right that was granted is not seen")
		Expect(refused(namespace, template("pay", header("other")), "apply", "--as=ann", "-f", "-")).To(ContainSubstring("you may not get secrets other"))

		grant(namespace, "bob", "taskonce-template-editor")
		run(namespace, "", "patch", "tasktemplate", "pay", "--as=bob", "--type=merge", "-p", `{"spec":{"suspend":true}}`)
		moved := `{"spec":{"effect":{"http":{"url":"https://mallory.example/"}}}}`
		Expect(refused(namespace, "", "patch", "tasktemplate", "pay", "--as=bob", "--type=merge", "-p", moved)).To(ContainSubstring("you may not get secrets pay"))
	})

	It("that runs Jobs needs an author who may create them, in that namespace", func() {
		namespace, elsewhere := newNamespace(), newNamespace()
		report := template("report", map[string]any{"effect": map[string]any{"job": map[string]any{"template": map[string]any{"spec": map[string]any{
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "registry.example/report:1"}}}},
		}}}}})
		for _, name := range []string{namespace, elsewhere} {
			grant(name, "ann", "taskonce-template-editor")
		}
		Expect(refused(namespace, report, "create", "--as=ann", "-f", "-")).To(And(ContainSubstring("spec.effect.job"), ContainSubstring("you may not create jobs")))
		run(namespace, "", "create", "role", "makes-jobs", "--verb=create", "--resource=jobs")
		run(namespace, "", "create", "rolebinding", "ann-makes-jobs", "--role=makes-jobs", "--user=ann")
		Eventually(func() bool {
			ok, _ := kubectl(namespace, report, "apply", "--as=ann", "-f", "-")
			return ok
		}).Should(BeTrue(), "the right that was granted is not seen")
		Expect(refused(elsewhere, report, "create", "--as=ann", "-f", "-")).To(ContainSubstring("you may not create jobs"))
	})

	It("is not taken while nobody can check it, and its labels do not matter", func() {
		namespace := newNamespace(work())
		door.close()
		DeferCleanup(func() { door.open() })
		Expect(refused(namespace, template("another", nil), "create", "-f", "-")).To(ContainSubstring(`failed calling webhook "templates.taskonce.dev"`))
		run(namespace, "", "label", "tasktemplate", "work", "team=payments")
	})
})

var _ = Describe("A manifest", func() {
	It("with an unknown field is refused by strict validation, which names it", func() {
		namespace := newNamespace(work())
		said := refused(namespace, submission{name: "grant-42", template: "work", parameters: `{"order":"7"}`, more: map[string]any{"params": map[string]any{}}}.manifest(), "create", "-f", "-")
		Expect(said).To(ContainSubstring(`unknown field "spec.params"`))
	})

	It("of 200 kB is taken", func() {
		namespace := newNamespace(work())
		large := fmt.Sprintf(`{"order":%q}`, strings.Repeat("x", 200_000))
		create(namespace, submission{name: "grant-42", template: "work", parameters: large}.manifest())
		stands(namespace, "grant-42", "Success/Applied")
	})

	DescribeTable("has a name of its own for each key", func(key string) {
		namespace := newNamespace(work())
		s := submission{key: key, template: "work", parameters: `{"order":"7"}`}
		create(namespace, s.named().manifest())
		stands(namespace, nameOf(key), "Success/Applied")
	},
		Entry("in upper case", "GRANT-42"),
		Entry("in NFC", "caf\u00e9"),
		Entry("in NFD", "cafe\u0301"),
		Entry("an emoji", "🎉"),
		Entry("512 bytes", strings.Repeat("k", 512)),
	)
})
