package main

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

//go:embed templates/*.yaml
var templateFiles embed.FS

// misspelt is the template that is wrong on purpose.
const misspelt = "misspelt"

// applyTemplates creates the templates and waits until each is judged. In the files the receiver has a name; here it
// has an address.
func (w *world) applyTemplates(ctx context.Context) error {
	files, err := templateFiles.ReadDir("templates")
	if err != nil {
		return err
	}
	addresses := strings.NewReplacer("late-receiver.example", w.receiver.shut, "receiver.example", w.receiver.address)
	for _, file := range files {
		text, err := templateFiles.ReadFile("templates/" + file.Name())
		if err != nil {
			return err
		}
		template := &unstructured.Unstructured{} // as it is written, for the API server to fill in what is left out
		if err := yaml.UnmarshalStrict([]byte(addresses.Replace(string(text))), &template.Object); err != nil {
			return fmt.Errorf("%s: %w", file.Name(), err)
		}
		template.SetNamespace(w.namespace)
		if err := w.api.Create(ctx, template); err != nil {
			return fmt.Errorf("%s: %w", file.Name(), err)
		}
	}
	return until(ctx, "the operator to judge the templates", func(ctx context.Context) (bool, error) {
		var list v1alpha1.TaskTemplateList
		err := w.api.List(ctx, &list, client.InNamespace(w.namespace))
		judged := 0
		for _, template := range list.Items {
			ready := meta.FindStatusCondition(template.Status.Conditions, v1alpha1.ConditionReady)
			switch {
			case ready == nil:
			case ready.Status != "True" && template.Name != misspelt:
				return false, fmt.Errorf("the template %s is not ready: %s", template.Name, ready.Message)
			default:
				judged++
			}
		}
		return judged == len(files), err
	})
}
