package expr

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// maxKeyParts is how many arguments key(…) takes.
const maxKeyParts = 8

// maxStringBytes bounds the strings that the functions below build. CEL charges a call after it is done, which is too
// late for one that can turn two small strings into a huge one.
const maxStringBytes = 1 << 20

var errStringTooLong = fmt.Errorf("makes a string of more than %d bytes", maxStringBytes)

// functions are ours: key(…), and bounded versions of those of the strings library that can multiply sizes.
func functions() []cel.EnvOption {
	text := cel.StringType
	var keys []cel.FunctionOpt
	for n := 1; n <= maxKeyParts; n++ {
		arguments := make([]*cel.Type, n)
		for i := range arguments {
			arguments[i] = cel.DynType
		}
		keys = append(keys, cel.Overload(fmt.Sprintf("key_%d", n), arguments, text, cel.FunctionBinding(keyOf)))
	}
	return []cel.EnvOption{
		cel.Function("key", keys...),
		cel.Function("replace",
			cel.MemberOverload("string_replace_string_string", []*cel.Type{text, text, text}, text, cel.FunctionBinding(replace)),
			cel.MemberOverload("string_replace_string_string_int", []*cel.Type{text, text, text, cel.IntType}, text, cel.FunctionBinding(replace))),
		cel.Function("join",
			cel.MemberOverload("list_join", []*cel.Type{cel.ListType(text)}, text, cel.UnaryBinding(func(list ref.Val) ref.Val { return join(list, "") })),
			cel.MemberOverload("list_join_string", []*cel.Type{cel.ListType(text), text}, text, cel.BinaryBinding(func(list, by ref.Val) ref.Val {
				return join(list, string(by.(types.String)))
			}))),
	}
}

// keyOf is v1alpha1.Key over the texts of its arguments. An int and a string of the same text are the same part.
func keyOf(arguments ...ref.Val) ref.Val {
	parts := make([]string, len(arguments))
	for i, argument := range arguments {
		part, err := scalarText(argument)
		if err != nil {
			return types.NewErr("argument %d of key(…) %w", i+1, err)
		}
		parts[i] = part
	}
	return types.String(v1alpha1.Key(parts...))
}

func replace(arguments ...ref.Val) ref.Val {
	text, old, with := string(arguments[0].(types.String)), string(arguments[1].(types.String)), string(arguments[2].(types.String))
	times := -1
	if len(arguments) == 4 {
		times = int(arguments[3].(types.Int))
	}
	found := strings.Count(text, old)
	if times >= 0 && times < found {
		found = times
	}
	if len(text)+found*(len(with)-len(old)) > maxStringBytes {
		return types.WrapErr(errStringTooLong)
	}
	return types.String(strings.Replace(text, old, with, times))
}

func join(list ref.Val, by string) ref.Val {
	var out strings.Builder
	for i, it := 0, list.(traits.Lister).Iterator(); it.HasNext() == types.True; i++ {
		element, ok := it.Next().(types.String)
		if !ok {
			return types.WrapErr(errors.New("join(…) takes a list of strings: make each one with .map(x, string(x))"))
		}
		if i > 0 {
			out.WriteString(by)
		}
		out.WriteString(string(element))
		if out.Len() > maxStringBytes {
			return types.WrapErr(errStringTooLong)
		}
	}
	if !utf8.ValidString(out.String()) {
		return types.WrapErr(errors.New("join(…) makes no valid UTF-8"))
	}
	return types.String(out.String())
}
