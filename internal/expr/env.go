package expr

import (
	"errors"
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
)

// Env compiles the strings of one template. It is immutable and safe for concurrent use, and so is what it compiles.
type Env struct {
	cel       *cel.Env
	schema    *Schema
	objects   objects
	estimator estimator
}

// NewEnv declares the variables: params typed by the schema, so that an unknown field is refused when a template is
// compiled, or a map of anything where there is no schema. Beside CEL's own functions expressions have key(…), the
// strings library, optional values (params.?note.orValue("-")), and `…` around field names that are no identifiers.
func NewEnv(schema *Schema) (*Env, error) {
	typer := &typer{objects: fixedObjects(), sizes: map[string]uint64{}}
	params := cel.MapType(cel.StringType, cel.DynType)
	if schema != nil {
		params = typer.typeOf(schema.structural, "params")
	}
	base, err := base()
	if err != nil {
		return nil, fmt.Errorf("set up expressions: %w", err)
	}
	env, err := base.Extend(
		cel.CustomTypeProvider(provider{Provider: base.CELTypeProvider(), objects: typer.objects}),
		cel.Variable("params", params),
		cel.Variable("submission", cel.ObjectType("object submission")),
		cel.Variable("attempt", cel.IntType),
		cel.Variable("response", cel.ObjectType("object response")),
		cel.Variable("claims", cel.MapType(cel.StringType, cel.DynType)),
	)
	if err != nil {
		return nil, fmt.Errorf("set up expressions: %w", err)
	}
	return &Env{cel: env, schema: schema, objects: typer.objects, estimator: estimator{sizes: typer.sizes}}, nil
}

// base is the part of each environment that is the same for all templates.
var base = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(append([]cel.EnvOption{
		cel.OptionalTypes(),
		ext.Strings(ext.StringsVersion(5)),
		cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(true),
		cel.EnableIdentifierEscapeSyntax(),
		cel.ParserExpressionSizeLimit(maxSourceLength),
		cel.ParserRecursionLimit(maxNesting),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals()),
	}, functions()...)...)
})

// activation is the values of the variables, and the budget of the expression that is being evaluated. It serves one
// goroutine.
type activation struct {
	values map[string]any
	weight uint64
}

// bind prepares an evaluation that uses some variables: the parameters are brought to the types that the schema
// gives them (a whole number in a field of type number is a double), and what is missing is an error.
func (e *Env) bind(in Input, uses Variables) (*activation, error) {
	values := map[string]any{"attempt": int64(in.Attempt)}
	if uses&Params != 0 {
		params := in.Params
		if params == nil {
			params = map[string]any{}
		}
		if e.schema != nil {
			var err error
			if params, _, err = conform(params, e.schema.structural, "params"); err != nil {
				return nil, err
			}
		}
		values["params"] = params
	}
	if uses&Submission != 0 {
		values["submission"] = in.Submission
	}
	if uses&Response != 0 {
		if in.Response == nil {
			return nil, errors.New("the expression uses response, and there was none")
		}
		values["response"] = in.Response
	}
	if uses&Claims != 0 {
		values["claims"] = in.Claims
	}
	return &activation{values: values}, nil
}
