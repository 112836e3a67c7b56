package plan

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/expr"
)

// Access says who may submit through a gateway, and read what was submitted.
type Access struct{ condition *expr.Condition } // nil: everybody may submit, and each reads their own

var errNotAllowed = errors.New("the template's access does not allow these parameters to the bearer of these claims")

// AccessOf compiles a template's access. An error says what is wrong with the template.
func AccessOf(template *v1alpha1.TaskTemplate) (*Access, error) {
	path := field.NewPath("spec")
	env, wrong := (&Plan{}).compileSchema(path, &template.Spec)
	if wrong != nil {
		return nil, wrong
	}
	access, wrong := compileAccess(path, &template.Spec, env)
	if wrong != nil {
		return nil, wrong
	}
	return access, nil
}

// compileAccess puts the expression into ${…}, without which it is written: there is nothing else in the field.
func compileAccess(path *field.Path, spec *v1alpha1.TaskTemplateSpec, env *expr.Env) (*Access, *field.Error) {
	if spec.Access == "" {
		return &Access{}, nil
	}
	condition, err := env.Condition("${"+spec.Access+"}", expr.Claims|expr.Params)
	if err != nil {
		return nil, field.Invalid(path.Child("access"), spec.Access, err.Error())
	}
	return &Access{condition: condition}, nil
}

// Stated reports whether the template says who may.
func (a *Access) Stated() bool { return a.condition != nil }

// Allows returns nil where a token with these claims may submit these parameters, and otherwise why not. An expression
// without a value, as where a claim is missing, allows nothing.
func (a *Access) Allows(claims map[string]any, parameters []byte) error {
	if a.condition == nil {
		return nil
	}
	params, err := expr.DecodeObject(orEmptyObject(parameters))
	if err != nil {
		return err
	}
	allowed, err := a.condition.True(expr.Input{Params: params, Claims: claims})
	switch {
	case err != nil:
		return fmt.Errorf("the template's access: %w", err)
	case !allowed:
		return errNotAllowed
	}
	return nil
}
