package terse_test

import (
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

// always is never left out: every status has a phase.
const always = "tasksubmissions.status.phase"

// A field with a default would be stored otherwise than it was sent, and nobody would be told.
func TestTheAPIServerFillsNothingIn(t *testing.T) {
	for kind, field := range map[string]string{"taskrecords": "spec", "tasksubmissions": "status"} {
		written := schemaOf(t, kind).Properties[field]
		if len(written.Properties) == 0 {
			t.Fatalf("%s has no %s", kind, field)
		}
		for name, property := range written.Properties {
			noDefaults(t, kind+"."+field+"."+name, &property)
		}
	}
}

func schemaOf(t *testing.T, plural string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "config", "crd", "bases", v1alpha1.GroupVersion.Group+"_"+plural+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, crd); err != nil {
		t.Fatal(err)
	}
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema
}

func noDefaults(t *testing.T, path string, schema *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	if schema.Default != nil && path != always {
		t.Errorf("%s has the default %s, and is written without reading back what is stored", path, schema.Default.Raw)
	}
	for name, property := range schema.Properties {
		noDefaults(t, path+"."+name, &property)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		noDefaults(t, path+"[]", schema.Items.Schema)
	}
}
