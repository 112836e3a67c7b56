package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// own are the ClusterRoles of the operator and of the gateway, and not those for people that are always there.
var own = []string{"manager-role", "metrics-auth-role", "gateway", "gateway-metrics-auth-role", "gateway-page", "page-viewer"}

func isOwn(object *unstructured.Unstructured) bool {
	return object.GetKind() == "ClusterRole" && slices.Contains(own, strings.TrimPrefix(object.GetName(), prefix))
}

// addRules adds the rules of such roles to those of the same purpose.
func addRules(rules map[string][]any, object *unstructured.Unstructured) error {
	all, _, err := unstructured.NestedSlice(object.Object, "rules")
	if err != nil {
		return err
	}
	for _, rule := range all {
		purpose, err := purposeOf(object, rule.(map[string]any))
		if err != nil {
			return err
		}
		if purpose != "" {
			rules[purpose] = append(rules[purpose], rule)
		}
	}
	return nil
}

func purposeOf(object *unstructured.Unstructured, rule map[string]any) (string, error) {
	groups, _, err := unstructured.NestedStringSlice(rule, "apiGroups")
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
	}
	switch object.GetKind() + " " + strings.TrimPrefix(object.GetName(), prefix) {
	case "Role leader-election-role":
		return "election", nil
	case "Role manager-role":
		return "secret", nil
	case "ClusterRole metrics-auth-role":
		return "metrics", nil
	case "ClusterRole gateway":
		return "gateway", nil
	case "ClusterRole gateway-metrics-auth-role":
		return "gatewayMetrics", nil
	case "ClusterRole gateway-page":
		return "gatewayPage", nil
	case "ClusterRole page-viewer":
		return "pageViewer", nil
	case "ClusterRole manager-role":
		switch groups[0] {
		case "admissionregistration.k8s.io":
			return "configurations", nil
		case "authorization.k8s.io":
			return "reviews", nil
		}
		return "work", nil
	}
	return "", nil
}

// named makes a named template of the rules of each purpose.
func named(rules map[string][]any) (string, error) {
	var out strings.Builder
	out.WriteString("{{- /* What the operator and the gateway may do, by what it is for; generated from config/rbac and config/gateway. */ -}}\n")
	for _, purpose := range slices.Sorted(maps.Keys(rules)) {
		text, err := yaml.Marshal(rules[purpose])
		if err != nil {
			return "", err
		}
		said := released(string(text))
		if purpose == "election" {
			said = strings.Replace(said, "- taskonce.dev\n", "- {{ include \"taskonce.lease\" . }}\n", 1)
		}
		fmt.Fprintf(&out, "{{- define \"taskonce.rules.%s\" -}}\n%s{{- end }}\n", purpose, said)
	}
	return out.String(), nil
}
