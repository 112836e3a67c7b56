package admission_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// bad is a submission that must have no effect, whichever door it takes.
type bad struct {
	what string
	submission
	// reason is what it is denied with, or fails for.
	reason v1alpha1.Reason
	// rule is the text of the schema's own refusal, where that is the answer at every door.
	rule string
}

func deep(levels int) string {
	return `{"order":"7","card":` + strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels) + "}"
}

var badSubmissions = []bad{
	{"a key that differs from another's in case only, under that one's name", submission{name: "grant-42", key: "Grant-42"}, v1alpha1.ReasonInvalidName, ""},
	{"a trailing space", submission{name: "grant-42", key: "grant-42 "}, v1alpha1.ReasonInvalidName, "no white space at either end"},
	{"the NFD form under the name of the NFC form", submission{name: nameOf("caf\u00e9"), key: "cafe\u0301"}, v1alpha1.ReasonInvalidName, ""},
	{"an emoji under a name of its own choice", submission{name: "party", key: "🎉"}, v1alpha1.ReasonInvalidName, ""},
	{"513 bytes", submission{name: "long", key: strings.Repeat("k", 513)}, v1alpha1.ReasonInvalidName, "spec.idempotencyKey"},
	{"513 bytes in fewer letters", submission{name: "long", key: strings.Repeat("é", 256) + "k"}, v1alpha1.ReasonInvalidName, "at most 512 bytes"},
	{"an empty key", submission{name: "grant-42", more: map[string]any{"idempotencyKey": ""}}, "", "spec.idempotencyKey"},
	{"a newline", submission{name: "grant-42", key: "grant\n42"}, v1alpha1.ReasonInvalidName, "no control characters"},
	{"a name of 53 characters that is to be its own key", submission{name: strings.Repeat("a", 53)}, v1alpha1.ReasonInvalidName, ""},
	{"a name that looks derived, with no key", submission{name: "charge-order-1001-glhwwvbisjkzps6l53y6kj6ggh"}, v1alpha1.ReasonInvalidName, ""},
	{"a key like a label but for its upper case", submission{name: "upper", key: "UPPER"}, v1alpha1.ReasonInvalidName, ""},
	{"generateName beside a name", submission{name: "grant-42", generateName: "grant-"}, "", "generateName would give the same action a new name each time"},
	{"generateName without a key", submission{generateName: "grant-"}, v1alpha1.ReasonInvalidName, "generateName would give the same action a new name each time"},
	{"parameters that the schema refuses", submission{name: "grant-42", parameters: `{"order":7}`}, v1alpha1.ReasonInvalidParameters, ""},
	{"parameters that the schema does not have", submission{name: "grant-42", parameters: `{"order":"7","colour":"red"}`}, v1alpha1.ReasonInvalidParameters, ""},
	{"parameters nested 100 deep", submission{name: "grant-42", parameters: deep(100)}, v1alpha1.ReasonInvalidParameters, ""},
	{"parameters that are no object", submission{name: "grant-42", parameters: `[1]`}, v1alpha1.ReasonInvalidParameters, ""},
	{"another key than the template makes", submission{name: "grant-42", template: "keyed"}, v1alpha1.ReasonKeyMismatch, ""},
	{"parameters that make no key", submission{name: "grant-42", template: "keyed", parameters: `{"order":" "}`}, v1alpha1.ReasonInvalidParameters, ""},
	{"a begin that is not before its end", submission{name: "grant-42", more: map[string]any{"notBefore": "2030-01-02T00:00:00Z", "notAfter": "2030-01-01T00:00:00Z"}}, "", "notBefore must be earlier than notAfter"},
	{"another person as its submitter", submission{name: "grant-42", annotations: map[string]string{v1alpha1.AnnotationSubmittedBy: "mallory"}}, "", "leave it out, it is written for you"},
}

func nameOf(key string) string {
	name, err := v1alpha1.NameForKey(key)
	if err != nil {
		panic(err) // a key in this file is wrong
	}
	return name
}

// doors are the ways in. Whoever uses one sees whether a submission was taken, and what was said.
var doors = []struct {
	name string
	down bool
	args []string
}{
	{"the webhook is up", false, []string{"create", "-f", "-"}},
	{"kubectl apply --server-side", false, []string{"apply", "--server-side", "-f", "-"}},
	{"a client that skips validation", false, []string{"create", "--validate=false", "-f", "-"}},
	{"the webhook is down", true, []string{"create", "-f", "-"}},
}

var _ = Describe("Bad input", func() {
	It("gets the same verdict at four doors, no effect and no record (I10)", func() {
		namespaces := map[string]string{}
		for _, way := range doors {
			namespaces[way.name] = newNamespace(work(), template("keyed", map[string]any{"idempotencyKey": "${params.order}"}))
		}
		for _, way := range doors {
			if way.down {
				door.close()
				DeferCleanup(func() { door.open() })
			}
			for _, b := range badSubmissions {
				By(way.name + ": " + b.what)
				b.enter(namespaces[way.name], way.args)
			}
			Expect(records(namespaces[way.name])).To(BeZero(), way.name)
			Expect(receiver.in(namespaces[way.name])).To(BeZero(), way.name)
		}
	})
})

// enter tries one door, and expects the one verdict.
func (b bad) enter(namespace string, args []string) {
	GinkgoHelper()
	if b.template == "" {
		b.template = "work"
	}
	if b.parameters == "" {
		b.parameters = `{"order":"7"}`
	}
	if b.name == "" && args[0] == "apply" {
		return // server-side apply needs a name
	}
	ok, said := kubectl(namespace, b.manifest(), args...)
	if ok {
		Expect(b.reason).NotTo(BeEmpty(), "it was taken: %s", said)
		name := get(namespace, b.name).Name
		stands(namespace, name, "Failed/"+string(b.reason))
		run(namespace, "", "delete", "tasksubmission", name)
		return
	}
	verdicts := []string{b.rule}
	if b.reason != "" {
		verdicts = append(verdicts, string(b.reason)+": ")
	}
	Expect(verdicts).To(ContainElement(Satisfy(func(verdict string) bool { return verdict != "" && strings.Contains(said, verdict) })),
		fmt.Sprintf("it was refused for something else: %s", said))
}
