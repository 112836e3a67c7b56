package plan

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/expr"
)

// compileKeys compiles the key expressions. They see the parameters only: a key that depended on a submission's name or
// an attempt would not be the same for a duplicate. So a key without any expression is refused as well: all
// submissions of the template would be one action.
func (p *Plan) compileKeys(path *field.Path, spec *v1alpha1.TaskTemplateSpec, env *expr.Env) field.ErrorList {
	var faults field.ErrorList
	compile := func(name, source string) *expr.Text {
		if source == "" {
			return nil
		}
		text, err := env.Text(source, expr.Params)
		if err != nil {
			faults = append(faults, field.Invalid(path.Child(name), source, err.Error()))
			return nil
		}
		if _, constant := text.Constant(); constant {
			faults = append(faults, field.Invalid(path.Child(name), source, "holds no expression, so every submission would have the same key: use the parameters, as in task:${params.taskId}"))
		}
		return text
	}
	p.idempotencyKey = compile("idempotencyKey", spec.IdempotencyKey)
	p.businessKey = compile("businessKey", spec.BusinessKey)
	return faults
}

// checkPolicies finds what contradicts itself between fields. An absent duration is its default, which the API server
// fills in.
func checkPolicies(path *field.Path, spec *v1alpha1.TaskTemplateSpec) field.ErrorList {
	var faults field.ErrorList
	if first, longest := spec.Retry.InitialDelay.Duration, spec.Retry.MaxDelay.Duration; longest > 0 && first > longest {
		faults = append(faults, field.Invalid(path.Child("retry", "initialDelay"), first.String(), "must not be longer than maxDelay, which is "+longest.String()))
	}
	if a := spec.Approval; a != nil && a.DistinctFromSubmitter && !a.Required {
		faults = append(faults, field.Invalid(path.Child("approval", "distinctFromSubmitter"), true, "speaks of an approval that is not asked for: set approval.required to true"))
	}
	if spec.BusinessKey == "" && spec.OnBusinessKeyConflict == v1alpha1.FailConflict {
		faults = append(faults, field.Invalid(path.Child("onBusinessKeyConflict"), spec.OnBusinessKeyConflict, "speaks of a business key, and the template has none: set businessKey"))
	}
	return faults
}
