package admission_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/gateway"
)

const errorsDocument = "../../docs/errors.md"

const errorsHead = `# Errors

What is said when something is refused, word for word as kubectl prints it, and what to do. ` + "`make errors`" + ` writes this page from
a run against a real API server, and ` + "`make test`" + ` compares them. Which part refuses what is in [Concepts](concepts.md#admission).

A submission that comes in while the webhook is down is not refused for its name, key or parameters: it is Failed, with the same
reason and message in its status. Delete it, correct it, and apply it again; the key is not used up. ` + "`kubectl taskonce submit`" + `, ` + "`pkg/submit`" + `
and the HTTP gateway do that themselves, where whoever submits may delete submissions.
`

// documented is one entry of the page.
type documented struct {
	title, text string
	shown       []shown
}

// shown is one command, with the manifest that it gets.
type shown struct {
	command  string // as it is printed; what follows "kubectl" is run, with -f - in place of a file's name
	manifest string
}

// runIn runs the command, and returns what is printed, without what differs from run to run.
func (s shown) runIn(namespace string) string {
	GinkgoHelper()
	args := strings.Fields(strings.TrimPrefix(s.command, "kubectl "))
	for i := range args {
		if strings.HasSuffix(args[i], ".yaml") {
			args[i] = "-"
		}
	}
	_, said := kubectl(namespace, s.manifest, args...)
	for _, differs := range [][2]string{
		{namespace, "shop"}, {`error when creating "STDIN": `, ""}, {`\b([0-9]+[smhd])+ ago`, "3h ago"},
		{`\.svc:[0-9]+/`, ".svc:443/"}, {`dial tcp [0-9.]+:[0-9]+`, "dial tcp 10.96.0.17:443"},
		{`\?timeout=30s`, "?timeout=3s"}, // as installed; the harness has the API server more patient
	} {
		said = regexp.MustCompile(differs[0]).ReplaceAllString(said, differs[1])
	}
	return fmt.Sprintf("```console\n$ %s\n%s\n```\n", s.command, said)
}

func (d documented) section(namespace string) string {
	GinkgoHelper()
	section := "\n## " + d.title + "\n\n" + strings.TrimSpace(d.text) + "\n"
	for _, s := range d.shown {
		section += "\n" + s.runIn(namespace)
	}
	return section
}

var _ = Describe("What is refused", func() {
	It("is documented word for word, with what to do", func() {
		namespace := newNamespace(work(),
			template("keyed", map[string]any{"idempotencyKey": "${key('grant', params.order)}"}),
			template("held", map[string]any{"suspend": true}),
			template("unreachable", map[string]any{"businessKey": "${params.order}", "effect": map[string]any{"http": map[string]any{"method": "POST", "url": "http://" + unusedAddress()}},
				"retry": map[string]any{"initialDelay": "1h", "maxDelay": "1h"}}))
		create(namespace, submission{name: "grant-42", template: "work", parameters: `{"order":"7","points":1}`}.manifest())
		stands(namespace, "grant-42", "Success/Applied")
		create(namespace, submission{name: "grant-50", template: "unreachable", parameters: `{"order":"7"}`}.manifest())
		stands(namespace, "grant-50", "Processing/Retrying")
		grant(namespace, "ann", "taskonce-template-editor")
		grant(namespace, "ann", "taskonce-approver")

		page := errorsHead
		for _, d := range refusals(namespace) {
			page += d.section(namespace)
		}
		door.close()
		DeferCleanup(func() { door.open() })
		for _, d := range refusalsWhileDown(namespace) {
			page += d.section(namespace)
		}
		page += errorsTail + gatewayProblems()
		if os.Getenv("TASKONCE_WRITE_ERRORS") != "" {
			Expect(os.WriteFile(errorsDocument, []byte(page), 0o644)).To(Succeed())
		}
		committed, err := os.ReadFile(errorsDocument)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(committed)).To(Equal(page), "run make errors, and look at what changed")
	})
})

// refusals are in the order in which somebody meets them.
func refusals(namespace string) []documented {
	GinkgoHelper()
	const createIt = "kubectl create -f submission.yaml"
	order := func(s submission) string {
		if s.template == "" {
			s.template = "work"
		}
		if s.parameters == "" {
			s.parameters = `{"order":"7","points":1}`
		}
		return s.manifest()
	}
	return []documented{
		{"InvalidName", "The name of a submission is computed from its key, so that one key is one object. Set `metadata.name` to the name that the\nmessage holds; a key that is a DNS label of at most 52 characters is its own name. `v1alpha1.NameForKey` computes it in Go.\nWhere the key itself is at fault, the message says what no key may have.", []shown{
			{createIt, order(submission{name: "grant", key: "Grant-42"})},
			{createIt, order(submission{name: strings.Repeat("a", 53)})},
			{createIt, order(submission{name: "grant-42", key: "grant-42 "})},
		}},
		{"generateName", "It would give the same action a new name each time. Leave it out and set `metadata.name`. (With a key and no name, the webhook\nwrites the name; without the webhook this is the answer.)", []shown{
			{createIt, order(submission{name: "grant-43", generateName: "grant-"})},
		}},
		{"InvalidParameters", "The template's `parametersSchema`, or an expression for its keys, does not take these parameters. The message names the field\nby its path: correct it. What a template takes, `kubectl get tasktemplate <name> -o yaml` shows.", []shown{
			{createIt, order(submission{name: "grant-43", parameters: `{"order":7}`})},
			{createIt, order(submission{name: "grant-43", parameters: `{"order":"7","colour":"red"}`})},
		}},
		{"KeyMismatch", "The template makes the key of the parameters, so that all clients agree on it, and this is another one. Submit under the key\nin the message, with the name that belongs to it; or the parameters are not those that you mean.", []shown{
			{createIt, order(submission{name: "grant-43", template: "keyed"})},
		}},
		{"KeyReused", "The key stands for another action already, which may have been done; whether it still exists as an object makes no difference.\nNothing was changed. If this is another action, give it a key of its own; if it is the same, send what was sent first. The\nmessage names the fields that differ.", []shown{
			{createIt, order(submission{name: "grant-42", parameters: `{"order":"7","points":2}`})},
		}},
		{"The same action again", "No error of yours: the action is known, and is not done again. Read the submission for its result.", []shown{
			{createIt, order(submission{name: "grant-42"})},
		}},
		{"A spec that is edited", "A submission stands for one action for ever. Submit the other action under a new key.", []shown{
			{"kubectl replace -f submission.yaml", order(submission{name: "grant-42", parameters: `{"order":"7","points":2}`})},
		}},
		{"It waits for its template", "Warnings, not refusals: the submission is taken, and begins when the template can be used.", []shown{
			{createIt + " --dry-run=server", order(submission{name: "grant-44", template: "nobody-wrote-it"})},
			{createIt + " --dry-run=server", order(submission{name: "grant-44", template: "held"})},
		}},
		{"A template that does not compile", "Each line names a field and what is wrong with it. Nothing is created or changed: a template that runs goes on as it was.", []shown{
			{"kubectl create -f template.yaml", template("misspelt", map[string]any{
				"businessKey": "${params.ordr}", "idempotencyKey": "always-the-same", "parametersSchema": map[string]any{"openAPIV3Schema": json.RawMessage(orderSchema)},
			})},
			{"kubectl create -f template.yaml", template("misspelt", map[string]any{"parametersSchema": map[string]any{"openAPIV3Schema": map[string]any{"type": "objekt"}}})},
		}},
		{"A right that a template's author lacks", "The operator reads Secrets on behalf of a template, so its author must be allowed to. Have somebody with the right write the\ntemplate, or have it granted: `kubectl create role` with `--verb=get --resource=secrets --resource-name=<name>`, and a binding.", []shown{
			{"kubectl create --as=ann -f template.yaml", template("pay", map[string]any{"effect": map[string]any{"http": map[string]any{
				"method": "POST", "url": "https://pay.example/charges", "headers": []any{map[string]any{
					"name": "X-Api-Key", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": "pay", "key": "token"}},
				}},
			}}})},
		}},
		{"A name that is not yours", "The annotations `taskonce.dev/submitted-by` and `taskonce.dev/decided-by` name the authenticated user. Leave them out; they are\nwritten for you. A manifest that was read from a cluster has them: remove them.", []shown{
			{createIt, order(submission{name: "grant-43", annotations: map[string]string{v1alpha1.AnnotationSubmittedBy: "bob"}})},
			{"kubectl annotate --overwrite tasksubmission grant-42 taskonce.dev/submitted-by=bob", ""},
		}},
		{"A record that guards an effect", "Without it the effect may happen a second time. To have an action ended or its outcome settled, make a TaskDecision (Cancel,\nConfirmApplied, ConfirmNotApplied; Release for a business key). Only if forgetting is what you want:\n`kubectl annotate taskrecord <name> taskonce.dev/forget=true`, and delete it then.", []shown{
			{"kubectl delete taskrecord " + v1alpha1.RecordName("grant-50"), ""},
			{"kubectl delete taskrecord " + v1alpha1.ClaimName("unreachable", "7"), ""},
		}},
		{"A decision that is changed", "A decision is judged once. Make another one.", decisionChanged(namespace)},
	}
}

// decisionChanged makes a decision, and shows what an edit of it is told.
func decisionChanged(namespace string) []shown {
	GinkgoHelper()
	create(namespace, decision("no", "Cancel", namespace, "grant-42"))
	return []shown{{`kubectl patch taskdecision no --type=merge -p {"spec":{"action":"Retry"}}`, ""}}
}

func refusalsWhileDown(namespace string) []documented {
	GinkgoHelper()
	return []documented{{"The webhook cannot be called", "Submissions do not depend on it. Templates and decisions wait: see that the operator's pods are ready\n(`kubectl -n taskonce-system get pods`), that `taskonce-webhook-service` leads to them, and what their log says of the certificate.\nAn operator that was removed left its webhooks behind: `kubectl delete mutatingwebhookconfiguration,validatingwebhookconfiguration\ntaskonce-admission`.", []shown{
		{"kubectl create -f template.yaml", template("another", nil)},
		{"kubectl create -f decision.yaml", decision("yes", "Cancel", namespace, "grant-42")},
	}}}
}

// gatewayProblems are the types of problems that the HTTP gateway answers with.
func gatewayProblems() string {
	page := gatewayHead
	for _, kind := range gateway.ProblemTypes {
		page += fmt.Sprintf("| %#q | %d | %s | %s |\n", kind.Name, kind.Status, kind.Title, kind.Advice)
	}
	return page
}

const gatewayHead = `
## Problems of the HTTP gateway

What the [gateway](http.md) answers in ` + "`application/problem+json`" + `. A type is ` + "`https://taskonce.dev/problems/`" + ` and the name; it
does not change.

| name | status | it means | what to do |
| --- | --- | --- | --- |
`

const errorsTail = `
## Reasons that are not about the input

They are in a submission's status, with a message that says what can be done:
[Phases and reasons](concepts.md#phases-and-reasons) has the list, and [Lifecycle](lifecycle.md) what leads to each.
`
