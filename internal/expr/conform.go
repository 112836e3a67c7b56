package expr

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// largestExact is the largest distance from zero up to which every whole number is a float64.
const largestExact = 1 << 53

// conform returns a decoded value with the Go types that its schema asks for: float64 for number, int64 for integer.
// JSON does not tell 3 from 3.0, and CEL does. The value itself is left as it is; a copy is made where something
// changes. The errors name the field. A whole number that no float64 holds exactly is one: its digits would be lost.
func conform(value any, s *structuralschema.Structural, path string) (any, error) {
	switch v := value.(type) {
	case int64:
		if s.Type != "number" {
			return value, nil
		}
		if v > largestExact || v < -largestExact {
			return nil, fmt.Errorf("%s: %d would lose digits as a number: the schema should call it integer, or string", path, v)
		}
		return float64(v), nil
	case float64:
		if s.Type == "integer" && v == math.Trunc(v) && math.Abs(v) <= largestExact {
			return int64(v), nil
		}
	case []any:
		return conformList(v, s, path)
	case map[string]any:
		return conformObject(v, s, path)
	}
	return value, nil
}

func conformList(list []any, s *structuralschema.Structural, path string) (any, error) {
	if s.Items == nil {
		return list, nil
	}
	var errs []error
	var changed []any
	for i, before := range list {
		after, err := conform(before, s.Items, fmt.Sprintf("%s[%d]", path, i))
		errs = append(errs, err)
		if err == nil && differs(before, after) {
			if changed == nil {
				changed = slices.Clone(list)
			}
			changed[i] = after
		}
	}
	if changed == nil {
		changed = list
	}
	return changed, errors.Join(errs...)
}

func conformObject(object map[string]any, s *structuralschema.Structural, path string) (any, error) {
	var errs []error
	var changed map[string]any
	for _, name := range slices.Sorted(maps.Keys(object)) {
		member := memberOf(s, name)
		if member == nil {
			continue
		}
		after, err := conform(object[name], member, path+"."+name)
		errs = append(errs, err)
		if err == nil && differs(object[name], after) {
			if changed == nil {
				changed = maps.Clone(object)
			}
			changed[name] = after
		}
	}
	if changed == nil {
		changed = object
	}
	return changed, errors.Join(errs...)
}

func memberOf(s *structuralschema.Structural, name string) *structuralschema.Structural {
	if property, ok := s.Properties[name]; ok {
		return &property
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

// differs says whether conform made something new. Lists and maps cannot be compared, and storing one that is the
// same costs a shallow copy only.
func differs(before, after any) bool {
	switch before.(type) {
	case []any, map[string]any:
		return true
	case int64:
		_, same := after.(int64)
		return !same
	case float64:
		_, same := after.(float64)
		return !same
	}
	return false
}
