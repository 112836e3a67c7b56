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
// JSON does not tell 3 from 3.0, and CEL does. The value itself is left as it is; where something changes a copy is
// made, and the bool is true. The errors name the field. A whole number that no float64 holds exactly is one: its
// digits would be lost.
func conform(value any, s *structuralschema.Structural, path string) (any, bool, error) {
	switch v := value.(type) {
	case int64:
		if s.Type != "number" {
			return value, false, nil
		}
		if v > largestExact || v < -largestExact {
			return nil, false, fmt.Errorf("%s: %d would lose digits as a number: the schema should call it integer, or string", path, v)
		}
		return float64(v), true, nil
	case float64:
		if s.Type == "integer" && v == math.Trunc(v) && math.Abs(v) <= largestExact {
			return int64(v), true, nil
		}
	case []any:
		return conformList(v, s, path)
	case map[string]any:
		return conformObject(v, s, path)
	}
	return value, false, nil
}

func conformList(list []any, s *structuralschema.Structural, path string) (any, bool, error) {
	if s.Items == nil {
		return list, false, nil
	}
	var errs []error
	out, copied := list, false
	for i, before := range list {
		after, changed, err := conform(before, s.Items, fmt.Sprintf("%s[%d]", path, i))
		errs = append(errs, err)
		if changed && !copied {
			out, copied = slices.Clone(list), true
		}
		if changed {
			out[i] = after
		}
	}
	return out, copied, errors.Join(errs...)
}

func conformObject(object map[string]any, s *structuralschema.Structural, path string) (any, bool, error) {
	var errs []error
	out, copied := object, false
	for _, name := range slices.Sorted(maps.Keys(object)) {
		member := memberOf(s, name)
		if member == nil {
			continue
		}
		after, changed, err := conform(object[name], member, path+"."+name)
		errs = append(errs, err)
		if changed && !copied {
			out, copied = maps.Clone(object), true
		}
		if changed {
			out[name] = after
		}
	}
	return out, copied, errors.Join(errs...)
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
