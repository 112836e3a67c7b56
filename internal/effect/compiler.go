package effect

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/expr"
)

// Compiler makes the Effect of a template. It reads nothing but the spec; every fault comes back with the path of
// the field that is wrong, below "spec".
type Compiler func(namespace string, spec *v1alpha1.TaskTemplateSpec, env *expr.Env) (Effect, Traits, field.ErrorList)

// Compilers holds one compiler for each kind of effect.
type Compilers struct {
	HTTP Compiler
	SQL  Compiler
	Job  Compiler
}

// For returns the compiler of the kind of effect that a template has, or nil.
func (c Compilers) For(spec *v1alpha1.TaskTemplateSpec) Compiler {
	switch {
	case spec.Effect.HTTP != nil:
		return c.HTTP
	case spec.Effect.SQL != nil:
		return c.SQL
	case spec.Effect.Job != nil:
		return c.Job
	default:
		return nil
	}
}
