package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// What config/default names things after, and where it puts them.
const (
	prefix    = "taskonce-"
	namespace = "taskonce-system"
)

func decode(text []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
}

// group is a file of the chart that is made of objects, and when they are installed.
type group struct{ file, condition string }

var groups = map[string]group{
	"CustomResourceDefinition":         {"templates/crds.yaml", "if .Values.crds.install"},
	"ValidatingAdmissionPolicy":        {"templates/policies.yaml", "if and .Values.policies.install (not .Values.namespaces)"},
	"ValidatingAdmissionPolicyBinding": {"templates/policies.yaml", "if and .Values.policies.install (not .Values.namespaces)"},
	"MutatingWebhookConfiguration":     {"templates/webhooks.yaml", `if include "taskonce.webhooks" .`},
	"ValidatingWebhookConfiguration":   {"templates/webhooks.yaml", `if include "taskonce.webhooks" .`},
	"ClusterRole":                      {"templates/roles.yaml", "if and .Values.roles.install (not .Values.namespaces)"},
}

// readsMetrics is when the role of who reads metrics is there: also for some namespaces, where the API server is asked about it.
const readsMetrics = `if and .Values.roles.install (or (not .Values.namespaces) (include "taskonce.delegated" .))`

// byHand are the kinds that hack/chart has templates of.
var byHand = []string{"Namespace", "ServiceAccount", "Role", "RoleBinding", "ClusterRoleBinding", "Service", "Deployment", "PodDisruptionBudget"}

// templates returns the chart's files that are made of objects, by name. The operator's and the gateway's own rights
// become named templates, since it depends on the values where and which of them are granted.
func templates(objects []*unstructured.Unstructured) (map[string]string, error) {
	files, rules := map[string]string{}, map[string][]any{}
	for _, object := range objects {
		if err := addRules(rules, object); err != nil {
			return nil, err
		}
		in, ok := groups[object.GetKind()]
		switch {
		case isOwn(object) || !ok && slices.Contains(byHand, object.GetKind()):
		case !ok:
			return nil, fmt.Errorf("the chart has no place for a %s: give it one in hack/dist or hack/chart", object.GetKind())
		default:
			text, err := template(object)
			if err != nil {
				return nil, err
			}
			if object.GetName() == prefix+"metrics-reader" {
				in.condition = readsMetrics
			}
			files[in.file] += "---\n{{- " + in.condition + " }}\n" + text + "{{- end }}\n"
		}
	}
	text, err := named(rules)
	files["templates/_rules.tpl"] = text
	return files, err
}

// template turns an object into a template: its names follow the release, and its labels are the chart's.
func template(object *unstructured.Unstructured) (string, error) {
	object = object.DeepCopy()
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	delete(labels, "app.kubernetes.io/name")
	delete(labels, "app.kubernetes.io/managed-by")
	labels["LABELS"] = ""
	object.SetLabels(labels)
	text, err := yaml.Marshal(object.Object)
	if err != nil {
		return "", err
	}
	if bytes.Contains(text, []byte("{{")) {
		return "", fmt.Errorf("%s %s has {{ in it, which Helm would take for its own", object.GetKind(), object.GetName())
	}
	said := strings.Replace(released(string(text)), "    LABELS: \"\"\n", "    {{- include \"taskonce.labels\" . | nindent 4 }}\n", 1)
	if extra, ok := extraAnnotations[object.GetKind()]; ok {
		said = annotated(said, extra)
	}
	return said, nil
}

// annotated adds an annotation to those of a template.
func annotated(text string, extra annotation) string {
	const metadata, annotations = "metadata:\n", "  annotations:\n"
	begin, line, end := "  {{- "+extra.condition+" }}\n", "    "+extra.text+"\n", "  {{- end }}\n"
	if strings.Contains(text, metadata+annotations) {
		return strings.Replace(text, metadata+annotations, metadata+annotations+begin+line+end, 1)
	}
	return strings.Replace(text, metadata, metadata+begin+annotations+line+end, 1)
}

// annotation is one that depends on values.
type annotation struct{ condition, text string }

var inject = annotation{
	`if include "taskonce.certManager" .`,
	`cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/{{ include "taskonce.fullname" . }}-webhook`,
}

// extraAnnotations are by kind.
var extraAnnotations = map[string]annotation{
	"CustomResourceDefinition":       {"if .Values.crds.keep", "helm.sh/resource-policy: keep"},
	"MutatingWebhookConfiguration":   inject,
	"ValidatingWebhookConfiguration": inject,
}

// released has names and namespace follow the release.
func released(text string) string {
	text = strings.ReplaceAll(text, ": "+namespace+"\n", ": {{ .Release.Namespace }}\n")
	for _, before := range []string{"name: ", "policyName: ", "- "} {
		text = strings.ReplaceAll(text, before+prefix, before+`{{ include "taskonce.fullname" . }}-`)
	}
	return text
}

// addMonitoring adds the specs of the alert rules, and the dashboards, as files that the chart's templates read: what
// they say in braces is not Helm's.
func addMonitoring(files map[string]string, folder string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		switch filepath.Ext(path) {
		case ".json":
			files["files/dashboards/"+filepath.Base(path)] = string(text)
		case ".yaml":
			if err == nil {
				err = addAlerts(files, text)
			}
		default:
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func addAlerts(files map[string]string, text []byte) error {
	objects, err := decode(text)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if object.GetKind() != "PrometheusRule" {
			continue
		}
		spec, err := yaml.Marshal(object.Object["spec"])
		if err != nil {
			return err
		}
		files["files/rules/"+strings.TrimPrefix(object.GetName(), prefix)+".yaml"] = string(spec)
	}
	return nil
}
