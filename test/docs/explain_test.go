package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// TestDescriptionsAreWhole: kubectl explain shows what the CRDs hold, and generating these cuts what is longer than
// maxDescLen. A Job's template has Kubernetes' own descriptions, which are cut to keep the CRD small.
func TestDescriptionsAreWhole(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(root(t), "config", "crd", "bases", "*.yaml"))
	if err != nil || len(paths) != 4 {
		t.Fatalf("there are not four CRDs: %v (%v)", paths, err)
	}
	described := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		crd := apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, &crd); err != nil {
			t.Fatal(err)
		}
		eachDescription(crd.Spec.Names.Kind, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, func(field, description string) {
			described++
			if strings.HasSuffix(description, "...") {
				t.Errorf("%s is cut, shorten its comment in api/v1alpha1: %s", field, description)
			}
		})
	}
	if described < 100 {
		t.Errorf("only %d fields have a description", described)
	}
}

func eachDescription(field string, schema *apiextensionsv1.JSONSchemaProps, visit func(field, description string)) {
	if schema.Description != "" {
		visit(field, schema.Description)
	}
	for name := range schema.Properties {
		if inner := field + "." + name; !strings.HasSuffix(inner, ".job.template") {
			property := schema.Properties[name]
			eachDescription(inner, &property, visit)
		}
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		eachDescription(field+"[]", schema.Items.Schema, visit)
	}
}
