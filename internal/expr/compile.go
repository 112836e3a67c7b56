package expr

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// names are the variables in the order in which messages list them.
var names = []struct {
	name     string
	variable Variables
}{{"params", Params}, {"submission", Submission}, {"attempt", Attempt}, {"response", Response}, {"claims", Claims}}

// String lists the variables, for messages.
func (v Variables) String() string {
	var list []string
	for _, n := range names {
		if v&n.variable != 0 {
			list = append(list, n.name)
		}
	}
	if list == nil {
		return "none"
	}
	return strings.Join(list, ", ")
}

func variableNamed(name string) Variables {
	for _, n := range names {
		if n.name == name {
			return n.variable
		}
	}
	return 0
}

// expression is one ${…}, compiled.
type expression struct {
	source  string
	program cel.Program
	result  *cel.Type
	uses    Variables
}

// compile checks an expression: its syntax and types, that it uses allowed variables only, and what it may cost.
func (e *Env) compile(p part, allowed Variables) (*expression, error) {
	checked, issues := e.cel.Compile(p.text)
	if issues.Err() != nil {
		return nil, compileError(p, e.explain(issues.Errors(), p, allowed))
	}
	uses, err := variablesOf(checked.NativeRep(), allowed)
	if err != nil {
		return nil, compileError(p, err.Error())
	}
	estimate, err := e.cel.EstimateCost(checked, e.estimator)
	if err == nil && estimate.Max > maxCost {
		err = costError(estimate.Max)
	}
	if err != nil {
		return nil, compileError(p, err.Error())
	}
	program, err := e.cel.Program(checked, cel.CostTracking(charge{}), cel.CostLimit(maxCost), cel.CustomDecoratorV2(weighConstructors))
	if err != nil {
		return nil, compileError(p, err.Error())
	}
	return &expression{source: strings.TrimSpace(p.text), program: program, result: checked.OutputType(), uses: uses}, nil
}

func compileError(p part, why string) error {
	return fmt.Errorf("the expression %q at character %d: %s", shortened(p.text), p.at, why)
}

// variablesOf returns the variables that an expression uses, or an error where one is not allowed. A loop variable
// cannot have the name of one of ours, whether that is allowed here or not.
func variablesOf(tree *ast.AST, allowed Variables) (Variables, error) {
	var uses Variables
	var shadowed string
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind:
			uses |= variableNamed(e.AsIdent())
		case ast.ComprehensionKind:
			if name := e.AsComprehension().IterVar(); variableNamed(name) != 0 {
				shadowed = name
			}
		}
	}))
	if shadowed != "" {
		return 0, fmt.Errorf("the loop variable %s has the name of a variable: rename it", shadowed)
	}
	if foreign := uses &^ allowed; foreign != 0 {
		return 0, fmt.Errorf("%s cannot be used here; the variables here are: %s", foreign, allowed)
	}
	return uses, nil
}

// ResolveName implements interpreter.Activation.
func (a *activation) ResolveName(name string) (any, bool) {
	if name == weightName {
		return &a.weight, true
	}
	value, ok := a.values[name]
	return value, ok
}

// Parent implements interpreter.Activation.
func (a *activation) Parent() interpreter.Activation { return nil }

// evaluate returns the value, or an error that names the expression. It does not panic.
func (x *expression) evaluate(a *activation) (ref.Val, error) {
	a.weight = maxWeight
	value, _, err := x.program.Eval(a)
	if err != nil {
		return nil, x.fault(advise(err))
	}
	if types.IsUnknownOrError(value) {
		return nil, x.fault(fmt.Errorf("has no value: %v", value))
	}
	return value, nil
}

func (x *expression) fault(err error) error {
	return fmt.Errorf("the expression %q: %w", shortened(x.source), err)
}
