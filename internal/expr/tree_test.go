package expr

import (
	"fmt"
	"strings"
	"testing"
)

func TestTree(t *testing.T) {
	env, in := typedEnv(t), input(t)
	for _, c := range []struct{ reason, raw, want string }{
		{"values keep their types", `{"id": "${params.id}", "ok": "${true}", "n": "${null}", "d": "${1.5}", "t": "#${params.id}"}`,
			`{"d":1.5,"id":9007199254740993,"n":null,"ok":true,"t":"#9007199254740993"}`},
		{"numbers keep their digits", `[123456789012345678901234567890, 1.10, 1e5, -0]`, `[123456789012345678901234567890,1.10,1e5,-0]`},
		{"depth", `{"a": [{"b": ["${params.items.map(i, i.n)}"]}]}`, `{"a":[{"b":[[1,2]]}]}`},
		{"a whole object", `"${params.addr}"`, `{"zip":"01"}`},
		{"no expressions", `{"b": 1, "a": [true, null, "x"]}`, `{"a":[true,null,"x"],"b":1}`},
		{"an escape in a value and in a key", `{"$${k}": "$${v}"}`, `{"${k}":"${v}"}`},
		{"an empty key", `{"": ""}`, `{"":""}`},
		{"no HTML escapes", `["<&>", "${'<&>'}"]`, `["<&>","<&>"]`},
		{"quotes in a value stay in it", `{"a": "${'\"}'}"}`, `{"a":"\"}"}`},
		{"a double that is whole", `"${params.price}"`, `3`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			tree, err := env.Tree([]byte(c.raw), everything)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := tree.JSON(in); err != nil || string(got) != c.want {
				t.Errorf("is %s (%v), want %s", got, err, c.want)
			}
		})
	}
}

func TestTreeErrors(t *testing.T) {
	env := typedEnv(t)
	for raw, words := range map[string][]string{
		``:                      {"no JSON"},
		`{} {}`:                 {"something follows"},
		`{"${params.name}": 1}`: {"${params.name}: the key of an object"},
		`{"${": 1}`:             {"no closing"},
		`{"a": [{"b": "${params.nope}"}, "${attempt}"]}`: {"a[0].b: the expression", "undefined field", "a[1]: the expression", "attempt cannot be used here"},
		`"${params.nope}"`: {"the expression"},
		`[` + strings.Repeat(`"${1}",`, maxTreeExpressions) + `"${1}"]`: {"257 expressions", "at most 256"},
	} {
		_, err := env.Tree([]byte(raw), Params|Submission)
		says(t, err, words...)
	}
	if _, err := env.Tree([]byte(`[`+strings.Repeat(`"x${1}y",`, maxTreeExpressions-1)+`"${1}"]`), 0); err != nil {
		t.Error(err)
	}
}

func TestTreeEvaluationErrorsHaveThePath(t *testing.T) {
	env := mustEnv(t, nil)
	tree, err := env.Tree([]byte(`{"a": [1, {"b": "${params.x}"}]}`), Params)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tree.JSON(Input{})
	says(t, err, `a[1].b: the expression "params.x": no such key: x`)
}

func TestTreeIsBounded(t *testing.T) {
	env := mustEnv(t, nil)
	in := Input{Params: map[string]any{"s": strings.Repeat("x", MaxOutputBytes/2)}}
	for times, fine := range map[int]bool{7: true, 9: false} {
		tree, err := env.Tree(fmt.Appendf(nil, `[%s"x"]`, strings.Repeat(`"${params.s}",`, times)), Params)
		if err != nil {
			t.Fatal(err)
		}
		_, err = tree.JSON(in)
		if fine && err != nil {
			t.Error(err)
		} else if !fine {
			says(t, err, "[7]", "1 MiB")
		}
	}
}

func TestDecodeJSON(t *testing.T) {
	for raw, want := range map[string]string{
		`9223372036854775807`:  "int64 9223372036854775807",
		`-9223372036854775808`: "int64 -9223372036854775808",
		`9223372036854775808`:  "float64 9.223372036854776e+18",
		`1.0`:                  "float64 1",
		`1e2`:                  "float64 100",
		`-0`:                   "int64 0",
		`[1, {"a": 2}]`:        "[]interface {} [1 map[a:2]]",
		` null `:               "<nil> <nil>",
		`"1"`:                  "string 1",
	} {
		value, err := DecodeJSON([]byte(raw))
		if got := fmt.Sprintf("%T %v", value, value); err != nil || got != want {
			t.Errorf("%s is %s (%v), want %s", raw, got, err, want)
		}
	}
	for raw, words := range map[string]string{
		``: "no JSON", `1 2`: "something follows", `{`: "no JSON", `1e999`: "too large", `[{"a":1e999}]`: "too large",
	} {
		_, err := DecodeJSON([]byte(raw))
		says(t, err, words)
	}
}
