package admission

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// maxDifferences bounds how many fields a refusal names, and maxFieldName the length of each.
const (
	maxDifferences = 8
	maxFieldName   = 120
)

// differing returns the paths of the fields in which two payloads differ, without their values, which may be nobody's
// business. A list counts as one field.
func differing(a, b *v1alpha1.TaskSubmissionSpec) []string {
	var paths []string
	if a.TemplateRef != b.TemplateRef {
		paths = append(paths, "spec.templateRef.name")
	}
	paths = difference(paths, "spec.parameters", decoded(a.Parameters.Raw), decoded(b.Parameters.Raw))
	if len(paths) > maxDifferences {
		return append(paths[:maxDifferences:maxDifferences], "…")
	}
	return paths
}

func difference(paths []string, path string, a, b any) []string {
	if len(paths) > maxDifferences || reflect.DeepEqual(a, b) {
		return paths
	}
	left, leftIsObject := a.(map[string]any)
	right, rightIsObject := b.(map[string]any)
	if !leftIsObject || !rightIsObject || len(path) > maxFieldName {
		return append(paths, path)
	}
	names := maps.Clone(left)
	maps.Copy(names, right)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		one, inLeft := left[name]
		other, inRight := right[name]
		if child := path + "." + shortened(name); inLeft != inRight {
			paths = append(paths, child)
		} else {
			paths = difference(paths, child, one, other)
		}
	}
	return paths
}

func shortened(name string) string {
	if runes := []rune(name); len(runes) > maxFieldName/2 {
		return string(runes[:maxFieldName/2]) + "…"
	}
	return name
}

// decoded returns parameters with every digit of their numbers; absent ones are an empty object.
func decoded(raw []byte) (value any) {
	if len(raw) == 0 {
		return map[string]any{}
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	_ = decoder.Decode(&value) // no JSON differs from everything
	return value
}
