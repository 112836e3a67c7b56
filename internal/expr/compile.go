package expr

import (
	"errors"
	"fmt"
	"maps"
	"slices"
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
}{{"params", Params}, {"submission", Submission}, {"attempt", Attempt}, {"response", Response}}

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
	return fmt.Errorf("the expression %q at character %d: %s", strings.TrimSpace(p.text), p.at, why)
}

// explain turns CEL's findings into one line that also says what can be done.
func (e *Env) explain(found []*cel.Error, p part, allowed Variables) string {
	var lines []string
	for i, f := range found {
		if i == 3 {
			lines = append(lines, fmt.Sprintf("and %d more", len(found)-i))
			break
		}
		message := strings.ReplaceAll(f.Message, " (in container '')", "")
		switch {
		case strings.HasPrefix(message, "undeclared reference") && !strings.Contains(message, "@"):
			message += "; the variables here are: " + allowed.String()
		case strings.HasPrefix(message, "undefined field"):
			message += e.fieldsHint(p.text)
		}
		lines = append(lines, fmt.Sprintf("%s (at its character %s)", message, place(f)))
	}
	return strings.Join(lines, "; ")
}

func place(f *cel.Error) string {
	if f.Location.Line() > 1 {
		return fmt.Sprintf("%d of line %d", f.Location.Column()+1, f.Location.Line())
	}
	return fmt.Sprint(f.Location.Column() + 1)
}

// fieldsHint lists the fields of the variables that a source speaks of.
func (e *Env) fieldsHint(source string) string {
	var hint strings.Builder
	for _, n := range names {
		fields, typed := e.objects["object "+n.name]
		if !typed || !strings.Contains(source, n.name) {
			continue
		}
		fmt.Fprintf(&hint, "; %s has: %s", n.name, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		if n.variable == Params {
			hint.WriteString(" (see parametersSchema)")
		}
	}
	return hint.String()
}

// variablesOf returns the variables that an expression uses, or an error where one is not allowed. A loop variable
// cannot have the name of one of ours, whether that is allowed here or not.
func variablesOf(tree *ast.AST, allowed Variables) (Variables, error) {
	var uses Variables
	var shadowed string
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind:
			uses |= variableNamed(strings.TrimPrefix(e.AsIdent(), "."))
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
	return fmt.Errorf("the expression %q: %w", x.source, err)
}

// advise adds to an error of an evaluation what can be done about it.
func advise(err error) error {
	var cancelled interpreter.EvalCancelledError
	switch message := err.Error(); {
	case errors.As(err, &cancelled):
		return fmt.Errorf("costs more than %d units with these values: loop less, or bound the parameters in parametersSchema", maxCost)
	case strings.HasPrefix(message, "no such key"):
		return fmt.Errorf("%w; where it may be absent, write .?name.orValue(…), or ask has(…) first", err)
	case strings.HasPrefix(message, "no such overload"):
		return fmt.Errorf("%w: the types of the values do not fit; convert with string(…), int(…) or double(…)", err)
	}
	return err
}
