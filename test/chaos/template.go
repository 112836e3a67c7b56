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
	idempotent kind = "idempotent" // applies a key once, so the same request may be sent again
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
metadata: {name: %[1]s}
spec:
  parametersSchema:
    openAPIV3Schema:
      type: object
      required: [item, payload]
      properties:
        item: {type: integer}
        payload: {type: integer, minimum: 0}
  %[2]s
  effect:
    http:
      method: POST
      url: http://%[3]s/%[4]s
      timeout: %[5]s
      body: {item: "${params.item}", payload: "${params.payload}"}
      %[6]s
  %[7]s
  retry: {initialDelay: 100ms, maxDelay: 500ms, maxAttempts: 8}
`

const verificationText = `verification:
    http: {method: GET, url: "http://%s/effects/${submission.downstreamKey}", timeout: %s}
    classify:
      - {when: "${response.status == 200}", outcome: Applied}
      - {when: "${response.status == 404}", outcome: NotApplied}
    settleAfter: %s`

func (a action) text(address string) string {
	gates, effect, verification := "", "", ""
	if a.approval {
		gates = "approval: {required: true}"
	}
	if a.business {
		gates = `businessKey: "pair-${params.item / 2}"`
		effect = `headers: [{name: Business-Key, value: "${submission.businessKey}"}]`
	}
	switch a.kind {
	case idempotent:
		effect = "receiver: {idempotent: true, remembersFor: 24h}"
	case verifiable:
		verification = fmt.Sprintf(verificationText, address, timeout, settleAfter)
	}
	return fmt.Sprintf(templateText, a.name, gates, address, a.kind, timeout, effect, verification)
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
