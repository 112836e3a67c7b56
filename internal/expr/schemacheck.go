package expr

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// decodeSchema decodes a schema and refuses words that are not of the dialect: what is decoded is encoded again, and
// what got lost was not understood.
func decodeSchema(raw []byte) (*apiextensionsv1.JSONSchemaProps, error) {
	before, err := DecodeNumbers(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	if _, ok := before.(map[string]any); !ok {
		return nil, fmt.Errorf("%s: must be an object, such as {\"type\": \"object\", \"properties\": {…}}", root)
	}
	var props apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(raw, &props); err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	encoded, err := json.Marshal(&props)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	after, err := DecodeNumbers(encoded)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	return &props, errors.Join(lost(root, before, after)...)
}

// lost names the members of one value that another does not have. Zero values may be left out.
func lost(path *field.Path, before, after any) []error {
	var errs []error
	switch b := before.(type) {
	case map[string]any:
		a, _ := after.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(b)) {
			kept, ok := a[name]
			if !ok && !isZero(b[name]) {
				errs = append(errs, fmt.Errorf("%s: is not a word of a structural schema, and would be ignored: correct or remove it", path.Child(name)))
			} else if ok {
				errs = append(errs, lost(path.Child(name), b[name], kept)...)
			}
		}
	case []any:
		a, _ := after.([]any)
		for i := range min(len(b), len(a)) {
			errs = append(errs, lost(path.Index(i), b[i], a[i])...)
		}
	}
	return errs
}

func isZero(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	case json.Number:
		return v == "0"
	}
	return reflect.ValueOf(value).IsZero()
}

var schemaTypes = []string{"object", "array", "string", "integer", "number", "boolean"}

// checkSchema finds what a structural schema may hold and parameters may not: defaults; and what the API server checks
// elsewhere: types that there are not, and patterns that are no regular expressions, on which the validator would fail
// each time.
func checkSchema(path *field.Path, s *apiextensionsv1.JSONSchemaProps) field.ErrorList {
	var faults field.ErrorList
	if s.Default != nil {
		faults = append(faults, field.Forbidden(path.Child("default"), "parameters have no defaults: what was submitted is what counts; give one in the expression, as in ${params.?note.orValue('-')}"))
	}
	if s.Type != "" && !slices.Contains(schemaTypes, s.Type) {
		faults = append(faults, field.NotSupported(path.Child("type"), s.Type, schemaTypes))
	}
	if _, err := regexp.Compile(s.Pattern); err != nil {
		faults = append(faults, field.Invalid(path.Child("pattern"), s.Pattern, err.Error()))
	}
	for name, child := range s.Properties {
		faults = append(faults, checkSchema(path.Child("properties").Key(name), &child)...)
	}
	if s.Items != nil && s.Items.Schema != nil {
		faults = append(faults, checkSchema(path.Child("items"), s.Items.Schema)...)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		faults = append(faults, checkSchema(path.Child("additionalProperties"), s.AdditionalProperties.Schema)...)
	}
	for name, list := range map[string][]apiextensionsv1.JSONSchemaProps{"allOf": s.AllOf, "anyOf": s.AnyOf, "oneOf": s.OneOf} {
		for i := range list {
			faults = append(faults, checkSchema(path.Child(name).Index(i), &list[i])...)
		}
	}
	if s.Not != nil {
		faults = append(faults, checkSchema(path.Child("not"), s.Not)...)
	}
	return faults
}

// checkRules compiles the x-kubernetes-validations at each place of a schema.
func checkRules(path *field.Path, s *structuralschema.Structural) field.ErrorList {
	faults := checkRulesHere(path.Child("x-kubernetes-validations"), s)
	for name, child := range s.Properties {
		faults = append(faults, checkRules(path.Child("properties").Key(name), &child)...)
	}
	if s.Items != nil {
		faults = append(faults, checkRules(path.Child("items"), s.Items)...)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		faults = append(faults, checkRules(path.Child("additionalProperties"), s.AdditionalProperties.Structural)...)
	}
	return faults
}

func checkRulesHere(path *field.Path, s *structuralschema.Structural) field.ErrorList {
	if len(s.XValidations) == 0 {
		return nil
	}
	results, err := schemacel.Compile(s, model.SchemaDeclType(s, s.XEmbeddedResource), celconfig.PerCallLimit,
		environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), schemacel.NewExpressionsEnvLoader())
	if err != nil {
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
	}
	var faults field.ErrorList
	for i, result := range results {
		rule := path.Index(i).Child("rule")
		switch text := s.XValidations[i].Rule; {
		case result.Error != nil:
			faults = append(faults, field.Invalid(rule, text, result.Error.Detail))
		case result.Program == nil:
			faults = append(faults, field.Required(rule, "a rule is an expression over self"))
		case result.UsesOldSelf:
			faults = append(faults, field.Invalid(rule, text, "oldSelf has no meaning here: parameters never change"))
		case result.MaxCost > celconfig.PerCallLimit:
			faults = append(faults, field.Forbidden(rule, "may cost too much: state maxItems and maxLength in the schema"))
		case result.MessageExpressionError != nil:
			faults = append(faults, field.Invalid(path.Index(i).Child("messageExpression"), s.XValidations[i].MessageExpression, result.MessageExpressionError.Detail))
		}
	}
	return faults
}
