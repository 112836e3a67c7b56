package expr

import (
	"fmt"
	"math"
	"strings"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

const (
	// maxCost bounds an expression, in CEL's units: what it is estimated to cost at worst when it is compiled, and
	// what it does cost when it is evaluated. It is a quarter of Kubernetes' limit: CEL's bookkeeping of the cost of
	// loops takes time that grows with the square of it, and this much is some hundredths of a second.
	maxCost = 250_000
	// maxSourceLength bounds the source of one expression, in characters.
	maxSourceLength = 4096
	// maxNesting bounds how deep an expression may be nested.
	maxNesting = 64
	// assumedLength and assumedItems are what strings and lists are taken to be where no schema bounds them.
	assumedLength, assumedItems = 256, 50
)

// estimator tells CEL how large the parameters may be: by the schema where it says so, and otherwise as assumed.
// The assumption costs nothing where it is wrong: the limit at evaluation counts what is really there.
type estimator struct{ sizes map[string]uint64 }

func (e estimator) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	if largest, ok := e.sizes[strings.Join(node.Path(), "\x00")]; ok && len(node.Path()) > 0 {
		return &checker.SizeEstimate{Max: largest}
	}
	switch node.Type().Kind() {
	case types.StringKind, types.BytesKind:
		return &checker.SizeEstimate{Max: assumedLength}
	case types.ListKind, types.MapKind, types.StructKind, types.DynKind, types.AnyKind:
		return &checker.SizeEstimate{Max: assumedItems}
	}
	return nil
}

func (estimator) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

func costError(estimate uint64) error {
	return fmt.Errorf("may cost %s units, and at most %d are allowed: state maxItems, maxProperties and maxLength in parametersSchema, or nest fewer loops",
		count(estimate), maxCost)
}

func count(n uint64) string {
	if n == math.MaxUint64 {
		return "any number of"
	}
	return fmt.Sprint(n)
}

// charge counts at evaluation what CEL counts too low: it takes every comparison of lists and maps for one step,
// however large their members are.
type charge struct{}

func (charge) CallCost(function, overload string, arguments []ref.Val, result ref.Val) *uint64 {
	var cost uint64
	switch {
	case function == operators.Equals || function == operators.NotEquals:
		cost = 1 + min(weigh(arguments[0], maxCost), weigh(arguments[1], maxCost))
	case function == operators.In || overload == overloads.InList || overload == overloads.InMap:
		cost = 1 + weigh(arguments[1], maxCost)
	case function == "format" || function == "key" || function == "string":
		cost = 1 + weigh(result, maxCost)
	default:
		return nil
	}
	return &cost
}
