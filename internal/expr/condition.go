package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// Condition is a boolean expression, compiled. It is immutable and safe for concurrent use.
type Condition struct {
	env        *Env
	expression *expression
}

// Condition compiles one expression in ${…} that is true or false. One whose type only the values tell is allowed, and
// checked at each evaluation.
func (e *Env) Condition(text string, allowed Variables) (*Condition, error) {
	parts, err := scan(strings.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	if len(parts) != 1 || !parts[0].isExpression {
		return nil, errors.New("must be one expression and nothing else, such as ${response.status == 409}")
	}
	x, err := e.compile(parts[0], allowed)
	if err != nil {
		return nil, err
	}
	if !x.result.IsExactType(cel.BoolType) && x.result.Kind() != types.DynKind {
		return nil, compileError(parts[0], fmt.Sprintf("is a %s and must be true or false: compare it with something", x.result))
	}
	return &Condition{env: e, expression: x}, nil
}

// True evaluates. Where the expression has no value, or one that is not a bool, the error says so and the bool is false.
func (c *Condition) True(in Input) (bool, error) {
	values, err := c.env.bind(in, c.expression.uses)
	if err != nil {
		return false, err
	}
	value, err := c.expression.evaluate(values)
	if err != nil {
		return false, err
	}
	truth, ok := value.(types.Bool)
	if !ok {
		return false, c.expression.fault(fmt.Errorf("is a %s and must be true or false", value.Type().TypeName()))
	}
	return bool(truth), nil
}
