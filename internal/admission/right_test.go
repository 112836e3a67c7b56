package admission

import (
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

func TestEverySecretThatATemplateNamesIsARight(t *testing.T) {
	value := func(name string) *v1alpha1.ValueSource {
		return &v1alpha1.ValueSource{SecretKeyRef: v1alpha1.SecretKeyRef{Name: name, Key: "k"}}
	}
	source := func(name string) *v1alpha1.SecretSource {
		return &v1alpha1.SecretSource{SecretRef: v1alpha1.SecretRef{Name: name}}
	}
	template := &v1alpha1.TaskTemplate{}
	template.Namespace = "shop"
	template.Spec.Effect.HTTP = &v1alpha1.HTTPEffect{HTTPRequest: v1alpha1.HTTPRequest{
		Headers: []v1alpha1.HTTPHeader{{Name: "A"}, {Name: "B", ValueFrom: value("header")}},
		Body:    &apiextensionsv1.JSON{Raw: []byte(`{"secretRef": {"name": "no-secret"}}`)},
		Auth:    &v1alpha1.HTTPAuth{Basic: source("basic"), Bearer: value("bearer")},
		TLS:     &v1alpha1.HTTPTLS{CA: value("ca"), ClientCertificate: source("certificate")},
	}}
	template.Spec.Verification = &v1alpha1.Verification{HTTP: v1alpha1.HTTPRequest{Auth: &v1alpha1.HTTPAuth{Bearer: value("verification")}}}
	rights, err := rightsOf(template)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range rights {
		if r.attribute.Verb != "get" || r.attribute.Resource != "secrets" || r.attribute.Namespace != "shop" || r.attribute.Group != "" {
			t.Errorf("%s: %+v", r.path, r.attribute)
		}
		names = append(names, r.attribute.Name)
	}
	if want := []string{"basic", "bearer", "header", "certificate", "ca", "verification"}; !sameNames(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
