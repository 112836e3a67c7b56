package plan

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
)

// Plan is a template, compiled. It is immutable and safe for concurrent use.
type Plan struct {
	// Digest is that of what the template does and how it finds out (effect and verification). Records store it and
	// approvals pin it; the policies around are no part of it.
	Digest string
	// Effect carries the action out. Verifier and Poller are what it implements.
	Effect effect.Effect
	// Traits are what the lifecycle must know of the effect.
	Traits effect.Traits

	schema         *expr.Schema
	idempotencyKey *expr.Text
	businessKey    *expr.Text
}

// Compile returns the plan, or no plan and every fault with the path of the field that is wrong. It reads nothing but
// the template, so the same template always gives the same answer.
func Compile(template *v1alpha1.TaskTemplate, compilers effect.Compilers) (*Plan, field.ErrorList) {
	spec, path := &template.Spec, field.NewPath("spec")
	faults := checkPolicies(path, spec)
	p := &Plan{}
	var err error
	if p.Digest, err = digestOf(spec); err != nil {
		faults = append(faults, field.Invalid(path.Child("effect"), field.OmitValueType{}, err.Error()))
	}
	env, wrong := p.compileSchema(path, spec)
	if wrong != nil {
		// Without the types of the parameters each expression would be reported too.
		return nil, append(faults, wrong)
	}
	faults = append(faults, p.compileKeys(path, spec, env)...)
	if _, wrong := compileAccess(path, spec, env); wrong != nil {
		faults = append(faults, wrong)
	}
	faults = append(faults, p.compileEffect(path, template, compilers, env)...)
	if len(faults) > 0 {
		return nil, faults
	}
	return p, nil
}

func digestOf(spec *v1alpha1.TaskTemplateSpec) (string, error) {
	raw, err := json.Marshal(struct {
		Effect       v1alpha1.Effect        `json:"effect"`
		Verification *v1alpha1.Verification `json:"verification"`
	}{spec.Effect, spec.Verification})
	if err != nil {
		return "", err
	}
	return v1alpha1.Digest(raw)
}

func (p *Plan) compileSchema(path *field.Path, spec *v1alpha1.TaskTemplateSpec) (*expr.Env, *field.Error) {
	path = path.Child("parametersSchema", "openAPIV3Schema")
	if spec.ParametersSchema != nil {
		schema, err := expr.NewSchema(spec.ParametersSchema.OpenAPIV3Schema.Raw)
		if err != nil {
			return nil, field.Invalid(path, field.OmitValueType{}, err.Error())
		}
		p.schema = schema
	}
	env, err := expr.NewEnv(p.schema)
	if err != nil {
		return nil, field.Invalid(path, field.OmitValueType{}, err.Error())
	}
	return env, nil
}

func (p *Plan) compileEffect(path *field.Path, template *v1alpha1.TaskTemplate, compilers effect.Compilers, env *expr.Env) field.ErrorList {
	compile := compilers.For(&template.Spec)
	if compile == nil {
		return field.ErrorList{field.Required(path.Child("effect"), "must be of a kind that this operator knows: http, sql, job")}
	}
	var faults field.ErrorList
	p.Effect, p.Traits, faults = compile(template.Namespace, &template.Spec, env)
	if len(faults) == 0 && p.Effect == nil {
		return field.ErrorList{field.InternalError(path.Child("effect"), errors.New("its compiler returned nothing"))}
	}
	return faults
}

// ValidateParameters returns nil where the parameters are a JSON object that the template's schema allows, and
// otherwise every fault with its path, such as params.taskId. Absent parameters are an empty object.
func (p *Plan) ValidateParameters(raw []byte) error {
	raw = orEmptyObject(raw)
	if p.schema == nil {
		_, err := expr.DecodeObject(raw)
		return err
	}
	return p.schema.Validate(raw)
}

func orEmptyObject(raw []byte) []byte {
	if len(raw) == 0 {
		return []byte("{}")
	}
	return raw
}

// Keys evaluates the key expressions over a submission's parameters. Either key is empty where the template has no
// expression for it. An error says which of them has no value, or none that can be a key, and is permanent: the same
// parameters fail the same way.
func (p *Plan) Keys(submission *v1alpha1.TaskSubmission) (idempotencyKey, businessKey string, err error) {
	if p.idempotencyKey == nil && p.businessKey == nil {
		return "", "", nil
	}
	params, err := expr.DecodeObject(orEmptyObject(submission.Spec.Parameters.Raw))
	if err != nil {
		return "", "", err
	}
	in := expr.Input{Params: params}
	if idempotencyKey, err = evaluateKey("idempotencyKey", p.idempotencyKey, in); err != nil {
		return "", "", err
	}
	if businessKey, err = evaluateKey("businessKey", p.businessKey, in); err != nil {
		return "", "", err
	}
	return idempotencyKey, businessKey, nil
}

func evaluateKey(name string, text *expr.Text, in expr.Input) (string, error) {
	if text == nil {
		return "", nil
	}
	key, err := text.String(in)
	if err == nil {
		err = v1alpha1.ValidateKey(key)
	}
	if err != nil {
		return "", fmt.Errorf("the template's %s: %w", name, err)
	}
	return key, nil
}
