package expr

import (
	"fmt"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// A few short expressions can build a value that is exponentially large, since its parts are shared:
// [[0]].map(a, [a, a]).map(a, [a, a])… Building it is cheap, and CEL counts it so; comparing, formatting or encoding it
// is not. So each list and map that an expression builds is weighed, with all it holds, against one budget for the
// whole evaluation. What is looped over passes through such a list too (map and filter make one of each element).

// weightName is how an evaluation's budget is found. No expression can spell it.
const weightName = "@weight"

// maxWeight is the budget: a member counts 1, a string 1 for each 64 bytes more.
const maxWeight = 250_000

// weigh counts the members of a value, and stops at the limit.
func weigh(value ref.Val, limit uint64) uint64 {
	weight := uint64(1)
	switch v := value.(type) {
	case types.String:
		weight += uint64(len(v)) / 64
	case types.Bytes:
		weight += uint64(len(v)) / 64
	case *types.Optional:
		if v.HasValue() {
			weight += weigh(v.GetValue(), limit)
		}
	case traits.Mapper:
		for it := v.Iterator(); weight < limit && it.HasNext() == types.True; {
			key := it.Next()
			weight += weigh(key, limit-weight)
			if weight < limit {
				weight += weigh(v.Get(key), limit-weight)
			}
		}
	case traits.Lister:
		for it := v.Iterator(); weight < limit && it.HasNext() == types.True; {
			weight += weigh(it.Next(), limit-weight)
		}
	}
	return weight
}

// weighed is a list or map that an expression builds, weighed each time.
type weighed struct {
	interpreter.InterpretableConstructor
}

func weighConstructors(node interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	if constructor, ok := node.(interpreter.InterpretableConstructor); ok {
		return weighed{constructor}, nil
	}
	return node, nil
}

func (w weighed) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	value := w.InterpretableConstructor.Exec(frame)
	found, _ := frame.ResolveName(weightName)
	left, ok := found.(*uint64)
	if !ok {
		return value
	}
	weight := weigh(value, *left)
	if *left -= min(weight, *left); *left == 0 {
		return types.WrapErr(fmt.Errorf("builds lists and maps of more than %d members in all: build less, or nest fewer loops", maxWeight))
	}
	return value
}

func (w weighed) Eval(activation interpreter.Activation) ref.Val {
	return w.Exec(interpreter.AsFrame(activation))
}
