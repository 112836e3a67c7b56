package expr

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Schema is what parameters must be: a structural OpenAPI v3 schema, as custom resources have it. It is immutable and
// safe for concurrent use.
type Schema struct {
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
	rules      *schemacel.Validator
}

// root is what the paths in errors about a schema begin with.
var root = field.NewPath("openAPIV3Schema")

// NewSchema reads a schema in Kubernetes' structural dialect, of type object and without defaults (the parameters are
// what was submitted, and their digest is stored). x-kubernetes-validations are compiled and enforced; oldSelf has no
// meaning here and is refused. A word that is no word of the dialect is refused, for it would be ignored. Every fault
// is reported, each with its path.
func NewSchema(raw []byte) (*Schema, error) {
	props, err := decodeSchema(raw)
	if err != nil {
		return nil, err
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, &internal, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	faults := structuralschema.ValidateStructural(root, structural)
	faults = append(faults, checkSchema(root, props)...)
	if structural.Type != "object" {
		faults = append(faults, field.Invalid(root.Child("type"), structural.Type, "must be object, for parameters are one"))
	}
	if len(faults) == 0 {
		faults = checkRules(root, structural)
	}
	if len(faults) > 0 {
		return nil, joined(faults)
	}
	validator, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	return &Schema{
		structural: structural,
		validator:  validator,
		rules:      schemacel.NewValidator(structural, false, celconfig.PerCallLimit),
	}, nil
}

// Validate returns nil where raw is a JSON object that the schema allows, and otherwise all that is wrong with it, each
// fault with the path of the field, such as params.taskId. A field that the schema does not have is one: nothing is dropped.
func (s *Schema) Validate(raw []byte) error {
	object, err := DecodeObject(raw)
	if err != nil {
		return err
	}
	params := field.NewPath("params")
	var faults field.ErrorList
	unknown := pruning.PruneWithOptions(object, s.structural, false, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range unknown {
		faults = append(faults, &field.Error{Type: field.ErrorTypeInvalid, Field: "params." + path, BadValue: field.OmitValueType{}, Detail: "the schema has no such field: remove it, or correct its name"})
	}
	faults = append(faults, validation.ValidateCustomResource(params, object, s.validator)...)
	if len(faults) > 0 {
		return joined(faults)
	}
	faults = append(faults, listtype.ValidateListSetsAndMaps(params, s.structural, object)...)
	conformed, _, err := conform(object, s.structural, "params")
	if err == nil && s.rules != nil {
		broken, _ := s.rules.Validate(context.Background(), params, s.structural, conformed, nil, celconfig.RuntimeCELCostBudget)
		faults = append(faults, broken...)
	}
	return errors.Join(joined(faults), err)
}

// DecodeObject decodes a JSON object, as DecodeJSON does; any other value is an error.
func DecodeObject(raw []byte) (map[string]any, error) {
	value, err := DecodeJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("params: %w", err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("params: must be a JSON object, such as {\"taskId\": 42}")
	}
	return object, nil
}

// joined returns one error of several, in a stable order, or nil of none.
func joined(faults field.ErrorList) error {
	lines := map[string]bool{}
	for _, fault := range faults {
		lines[fault.Error()] = true
	}
	var errs []error
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		errs = append(errs, errors.New(line))
	}
	return errors.Join(errs...)
}
