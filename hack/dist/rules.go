package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// isOperators says whether an object is a ClusterRole of the operator itself, and not one for people.
func isOperators(object *unstructured.Unstructured) bool {
	return object.GetKind() == "ClusterRole" && (object.GetName() == prefix+"manager-role" || object.GetName() == prefix+"metrics-auth-role")
}

// addRules adds the rules of the operator's own roles to those of the same purpose.
func addRules(rules map[string][]any, object *unstructured.Unstructured) error {
	own, _, err := unstructured.NestedSlice(object.Object, "rules")
	if err != nil {
		return err
	}
	for _, rule := range own {
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
	out.WriteString("{{- /* What the operator may do, by what it is for; generated from config/rbac. */ -}}\n")
	for _, purpose := range slices.Sorted(maps.Keys(rules)) {
		text, err := yaml.Marshal(rules[purpose])
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "{{- define \"taskonce.rules.%s\" -}}\n%s{{- end }}\n", purpose, released(string(text)))
	}
	return out.String(), nil
}
