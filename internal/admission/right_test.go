package admission

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
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
	expectSecrets(t, template, "basic", "bearer", "header", "certificate", "ca", "verification")
}

func TestEverySecretThatAPodNamesIsARight(t *testing.T) {
	name := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	volumes := []corev1.VolumeSource{
		{Secret: &corev1.SecretVolumeSource{SecretName: "volume"}},
		{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{Secret: &corev1.SecretProjection{LocalObjectReference: name("projected")}}}}},
		{CSI: &corev1.CSIVolumeSource{NodePublishSecretRef: &corev1.LocalObjectReference{Name: "csi"}}},
		{AzureFile: &corev1.AzureFileVolumeSource{SecretName: "azure"}},
		{ISCSI: &corev1.ISCSIVolumeSource{SecretRef: &corev1.LocalObjectReference{Name: "iscsi"}}},
	}
	pod := corev1.PodSpec{
		ImagePullSecrets: []corev1.LocalObjectReference{name("pull-a"), name("pull-b")},
		Containers: []corev1.Container{{
			Env:     []corev1.EnvVar{{ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: name("env")}}}},
			EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: name("env-from")}}},
		}},
	}
	for _, volume := range volumes {
		pod.Volumes = append(pod.Volumes, corev1.Volume{VolumeSource: volume})
	}
	template := &v1alpha1.TaskTemplate{}
	template.Namespace = "shop"
	template.Spec.Effect.Job = &v1alpha1.JobEffect{}
	template.Spec.Effect.Job.Template.Spec.Template.Spec = pod
	expectSecrets(t, template, "volume", "projected", "csi", "azure", "iscsi", "pull-a", "pull-b", "env", "env-from")
}

func expectSecrets(t *testing.T, template *v1alpha1.TaskTemplate, want ...string) {
	t.Helper()
	rights, err := rightsOf(template)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range rights {
		if r.attribute.Resource == "jobs" {
			continue
		}
		if r.attribute.Verb != "get" || r.attribute.Resource != "secrets" || r.attribute.Namespace != "shop" || r.attribute.Group != "" {
			t.Errorf("%s: %+v", r.path, r.attribute)
		}
		names = append(names, r.attribute.Name)
	}
	if !sameNames(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
