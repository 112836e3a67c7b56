package expr

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// objects are the object types that expressions know: name, then fields.
type objects map[string]map[string]*cel.Type

// fixedObjects are the types of the variables that are the same everywhere.
func fixedObjects() objects {
	text := cel.StringType
	return objects{
		"object submission": {"name": text, "namespace": text, "key": text, "businessKey": text, "downstreamKey": text},
		"object response":   {"status": cel.IntType, "headers": cel.MapType(text, text), "body": cel.DynType},
	}
}

// typer makes the CEL types of a schema, and the sizes that it bounds.
type typer struct {
	objects objects
	sizes   map[string]uint64
}

// typeOf returns the type of the values of a schema, at a path in the way of CEL's cost estimates. Dates stay the
// strings that they are, for they are sent on as they came; timestamp(…) reads them. What a schema leaves open is dyn.
func (t *typer) typeOf(s *structuralschema.Structural, path ...string) *cel.Type {
	t.bound(s, path)
	open := s.XPreserveUnknownFields || s.XEmbeddedResource || s.XIntOrString
	switch {
	case open && s.Type == "object" && len(path) == 1:
		return cel.MapType(cel.StringType, cel.DynType)
	case open:
		return cel.DynType
	}
	switch s.Type {
	case "string":
		return nullable(s, cel.StringType)
	case "integer":
		return nullable(s, cel.IntType)
	case "number":
		return nullable(s, cel.DoubleType)
	case "boolean":
		return nullable(s, cel.BoolType)
	case "array":
		if s.Items != nil {
			return orDyn(s, cel.ListType(t.typeOf(s.Items, append(slices.Clone(path), "@items")...)))
		}
	case "object":
		return orDyn(s, t.objectOf(s, path))
	}
	return cel.DynType
}

func nullable(s *structuralschema.Structural, scalar *cel.Type) *cel.Type {
	if s.Nullable {
		return cel.NullableType(scalar)
	}
	return scalar
}

func orDyn(s *structuralschema.Structural, aggregate *cel.Type) *cel.Type {
	if s.Nullable {
		return cel.DynType
	}
	return aggregate
}

func (t *typer) objectOf(s *structuralschema.Structural, path []string) *cel.Type {
	if more := s.AdditionalProperties; more != nil {
		if more.Structural == nil {
			return cel.MapType(cel.StringType, cel.DynType)
		}
		return cel.MapType(cel.StringType, t.typeOf(more.Structural, append(slices.Clone(path), "@values")...))
	}
	name := "object " + strings.Join(path, ".")
	fields := map[string]*cel.Type{}
	for field, property := range s.Properties {
		fields[field] = t.typeOf(&property, append(slices.Clone(path), field)...)
	}
	t.objects[name] = fields
	return cel.ObjectType(name)
}

func (t *typer) bound(s *structuralschema.Structural, path []string) {
	v := s.ValueValidation
	if v == nil {
		return
	}
	for _, largest := range []*int64{v.MaxLength, v.MaxItems, v.MaxProperties} {
		if largest != nil && *largest >= 0 {
			t.sizes[strings.Join(path, "\x00")] = uint64(*largest)
		}
	}
}

// provider adds the object types to those that CEL knows.
type provider struct {
	types.Provider
	objects objects
}

func (p provider) FindStructType(name string) (*types.Type, bool) {
	if _, ok := p.objects[name]; ok {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

func (p provider) FindStructFieldNames(name string) ([]string, bool) {
	if fields, ok := p.objects[name]; ok {
		return slices.Sorted(maps.Keys(fields)), true
	}
	return p.Provider.FindStructFieldNames(name)
}

func (p provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if fields, ok := p.objects[name]; ok {
		fieldType, ok := fields[field]
		return &types.FieldType{Type: fieldType}, ok
	}
	return p.Provider.FindStructFieldType(name, field)
}
