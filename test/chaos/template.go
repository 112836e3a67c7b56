package main

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// kind of receiver: what can be known of a lost answer.
type kind string

const (
	idempotent kind = "idempotent" // applies a key once, in one transaction, so the same request may be sent again
	verifiable kind = "verifiable" // applies whatever it is sent, and can be asked
	plain      kind = "plain"      // neither
)

// tells reports whether it can be found out, without a person, what became of a lost answer: then every action of the
// kind comes to an end by itself.
func (k kind) tells() bool { return k != plain }

// action is a template of the run.
type action struct {
	name     string
	kind     kind
	business bool // two keys at a time share a business key
	approval bool // a person must approve it
}

var actions = []action{
	{name: "refund", kind: idempotent},
	{name: "charge", kind: verifiable},
	{name: "letter", kind: plain},
	{name: "points", kind: verifiable, business: true},
	{name: "stamps", kind: plain, business: true},
	{name: "bonus", kind: idempotent, approval: true},
}

// actionOf returns the action that a key is for.
func actionOf(key string) action {
	name, _, _ := strings.Cut(key, "-")
	for _, a := range actions {
		if a.name == name {
			return a
		}
	}
	return action{}
}

func keyOf(a action, n int) string { return fmt.Sprintf("%s-%05d", a.name, n) }

const templateText = `
apiVersion: taskonce.dev/v1alpha1
kind: TaskTemplate
metadata: {name: %s}
spec:
  parametersSchema:
    openAPIV3Schema:
      type: object
      required: [item, payload]
      properties:
        item: {type: integer}
        payload: {type: integer, minimum: 0}
  retry: {initialDelay: 100ms, maxDelay: 500ms, maxAttempts: 8}
`

const httpText = `
  effect:
    http:
      method: POST
      url: http://%s/%s
      timeout: %s
      body: {item: "${params.item}", payload: "${params.payload}"}
`

const verificationText = `
  verification:
    http: {method: GET, url: "http://%s/effects/${submission.downstreamKey}", timeout: %s}
    classify:
      - {when: "${response.status == 200}", outcome: Applied}
      - {when: "${response.status == 404}", outcome: NotApplied}
    settleAfter: %s
`

// text is the template as YAML.
func (a action) text(address string) string {
	text := fmt.Sprintf(templateText, a.name)
	if a.approval {
		text += "  approval: {required: true}\n"
	}
	if a.business {
		text += "  businessKey: \"pair-${params.item / 2}\"\n"
	}
	return text + a.effect(address)
}

// effect is the part of the template that says what is done, and how it can be found out whether it was.
func (a action) effect(address string) string {
	text := fmt.Sprintf(httpText, address, a.kind, timeout)
	if a.business {
		text += "      headers: [{name: Business-Key, value: \"${submission.businessKey}\"}]\n"
	}
	switch a.kind {
	case idempotent:
		text += "      receiver: {idempotent: true, remembersFor: 24h}\n"
	case verifiable:
		text += fmt.Sprintf(verificationText, address, timeout, settleAfter)
	}
	return text
}

// applyTemplates creates the templates and waits until each is ready.
func (w *world) applyTemplates(ctx context.Context) error {
	for _, a := range actions {
		template := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(a.text(w.receiver.address)), &template.Object); err != nil {
			return fmt.Errorf("the template %s: %w", a.name, err)
		}
		template.SetNamespace(w.namespace)
		if err := w.api.Create(ctx, template); err != nil {
			return err
		}
	}
	return until(ctx, "the templates to be ready", func(ctx context.Context) (bool, error) {
		var list v1alpha1.TaskTemplateList
		err := w.api.List(ctx, &list, client.InNamespace(w.namespace))
		ready := 0
		for _, template := range list.Items {
			condition := meta.FindStatusCondition(template.Status.Conditions, v1alpha1.ConditionReady)
			switch {
			case condition == nil:
			case condition.Status != "True":
				return false, fmt.Errorf("the template %s is not ready: %s", template.Name, condition.Message)
			default:
				ready++
			}
		}
		return ready == len(actions), err
	})
}
