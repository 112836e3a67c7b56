package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/expr"
)

// rendered is a template with its expressions evaluated.
type rendered struct {
	IdempotencyKey string          `json:"idempotencyKey,omitempty"`
	Name           string          `json:"name,omitempty"`
	BusinessKey    string          `json:"businessKey,omitempty"`
	Effect         json.RawMessage `json:"effect"`
	Verification   json.RawMessage `json:"verification,omitempty"`
}

// render evaluates a template as the operator does. An error is about the field that it names.
func render(template *v1alpha1.TaskTemplate, params []byte, key string, attempt int32) (*rendered, error) {
	spec := &template.Spec
	env, err := environment(spec, params)
	if err != nil {
		return nil, err
	}
	decoded, err := expr.DecodeObject(params)
	if err != nil {
		return nil, err
	}
	r := &renderer{env: env, in: expr.Input{Params: decoded, Attempt: attempt}}
	result := &rendered{IdempotencyKey: key}
	if spec.IdempotencyKey != "" {
		result.IdempotencyKey = r.text("idempotencyKey", spec.IdempotencyKey)
		if key != "" && r.err == nil && key != result.IdempotencyKey {
			return nil, fmt.Errorf("the template makes the key %q of these parameters", result.IdempotencyKey)
		}
	}
	result.BusinessKey = r.text("businessKey", spec.BusinessKey)
	if r.err == nil && result.IdempotencyKey != "" {
		if result.Name, err = v1alpha1.NameForKey(result.IdempotencyKey); err != nil {
			return nil, err
		}
	}
	r.in.Submission = map[string]string{"namespace": template.Namespace, "businessKey": result.BusinessKey}
	if result.Name != "" {
		r.in.Submission = keyed(r.in.Submission, result.IdempotencyKey, result.Name)
	}
	result.Effect = r.part("effect", spec.Effect)
	if spec.Verification != nil {
		result.Verification = r.part("verification", spec.Verification)
	}
	return result, r.err
}

// environment checks the parameters, and compiles against their types.
func environment(spec *v1alpha1.TaskTemplateSpec, params []byte) (*expr.Env, error) {
	if spec.ParametersSchema == nil {
		return expr.NewEnv(nil)
	}
	schema, err := expr.NewSchema(spec.ParametersSchema.OpenAPIV3Schema.Raw)
	if err != nil {
		return nil, fmt.Errorf("spec.parametersSchema: %w", err)
	}
	if err := schema.Validate(params); err != nil {
		return nil, err
	}
	return expr.NewEnv(schema)
}

// renderer keeps the first error.
type renderer struct {
	env *expr.Env
	in  expr.Input
	err error
}

func (r *renderer) text(path, source string) string {
	if source == "" || r.err != nil {
		return ""
	}
	compiled, err := r.env.Text(source, expr.Params)
	return evaluated(r, "spec."+path, compiled, err, (*expr.Text).String)
}

var errKeyless = errors.New("it depends on the submission's key, and the template makes none of the parameters: give --key")

// keyed adds to what is known of a submission all that follows from its key.
func keyed(submission map[string]string, key, name string) map[string]string {
	all := map[string]string{"key": key, "name": name, "downstreamKey": submission["namespace"] + "/" + name}
	maps.Copy(all, submission)
	return all
}

// evaluated returns what something comes to, once it is compiled. It keeps the error of either with the field's path.
func evaluated[C, V any](r *renderer, path string, compiled C, err error, evaluate func(C, expr.Input) (V, error)) (value V) {
	if err == nil {
		if value, err = evaluate(compiled, r.in); err != nil && r.in.Submission["key"] == "" {
			with := r.in
			with.Submission = keyed(with.Submission, "k", "k")
			if _, without := evaluate(compiled, with); without == nil {
				err = errKeyless
			}
		}
	}
	if err != nil {
		r.err = fmt.Errorf("%s: %w", path, err)
	}
	return value
}
