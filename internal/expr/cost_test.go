package expr

import (
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
)

// TestExplosions: each of these is short and would take all memory, or for ever. None may be slow.
func TestExplosions(t *testing.T) {
	env, in := mustEnv(t, nil), manyItems(5000)
	in.Response = map[string]any{"body": strings.Repeat("x", 200_000)}
	times := strings.Repeat
	for _, c := range []struct{ reason, text string }{
		{"a list that doubles", "${[[0]]" + times(".map(a, a + a)", 60) + "}"},
		{"and is compared", "${[[0]]" + times(".map(a, a + a)", 60) + " == [[1]]}"},
		{"a tree that doubles", "${[[0]]" + times(".map(a, [a, a])", 60) + "}"},
		{"and is compared", "${[[0]]" + times(".map(a, [a, a])", 30) + " == [[0]]" + times(".map(a, [a, a])", 30) + "}"},
		{"a map that doubles", "${[[0]]" + times(".map(a, {'a': a, 'b': a})", 40) + "}"},
		{"a string that doubles", "${['x']" + times(".map(a, a + a)", 40) + "}"},
		{"a string that is replaced by itself", "${['xxxxxxxx']" + times(".map(a, a.replace('x', a))", 10) + "}"},
		{"a long string that is replaced by itself", "${response.body.replace('x', response.body)}"},
		{"a list that is joined by itself", "${params.items.map(a, response.body).join(response.body)}"},
		{"a list that is joined by a long string", "${params.items.map(a, 'x').join(response.body)}"},
		{"formatting", "${'%s%s'.format([response.body, response.body])" + times(".replace('x', 'xxxxxxxxxxxxxxxxxxxx')", 3) + "}"},
		{"loops over what is there", "${params.items.all(a, !params.items.all(b, a + 1 > b))}"},
		{"comparisons of large lists in a loop", "${params.items.all(a, [params.items] == [params.items])}"},
		{"a large list in a list, in a loop", "${params.items.map(a, [params.items])}"},
		{"membership in a loop", "${params.items.all(a, a in params.items || true)}"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			text, err := env.Text(c.text, everything)
			if err == nil {
				_, err = text.Value(in)
			}
			if err == nil {
				t.Fatal("it was evaluated")
			}
			if len(err.Error()) > 600 {
				t.Errorf("the message is long: %d bytes", len(err.Error()))
			}
			t.Log(err)
		})
	}
}

func manyItems(n int) Input {
	items := make([]any, n)
	for i := range items {
		items[i] = int64(i)
	}
	return Input{Params: map[string]any{"items": items}}
}

func TestCostAtEvaluationIsWhatIsThere(t *testing.T) {
	text := mustText(t, mustEnv(t, nil), "${params.items.all(a, params.items.exists(b, a == b))}")
	if got, err := text.Value(manyItems(50)); err != nil || got != true {
		t.Errorf("50 items: %v, %v", got, err)
	}
	_, err := text.Value(manyItems(5000))
	says(t, err, "costs more than 250000 units", "parametersSchema")
}

// TestWhatCELTakesForOneStep is counted for what it is.
func TestWhatCELTakesForOneStep(t *testing.T) {
	env, in := mustEnv(t, nil), manyItems(500)
	params := in.Params.(map[string]any)
	params["nested"] = []any{manyItems(2000).Params.(map[string]any)["items"]}
	params["long"] = strings.Repeat("x", 200_000)
	for _, text := range []string{
		"${params.items.all(a, params.nested == params.nested)}",
		"${params.items.exists(a, params.nested != params.nested)}",
		"${params.items.exists(a, [] in params.nested)}",
		"${params.items.all(a, key(params.long) != '')}",
	} {
		_, err := mustText(t, env, text).Value(in)
		says(t, err, "costs more than 250000 units")
	}
}

func TestTheSchemaBoundsTheEstimate(t *testing.T) {
	const loop = "${params.items.all(a, params.items.all(b, params.items.all(c, a == b)))}"
	for items, fine := range map[string]bool{`"maxItems": 10`: true, `"maxItems": 1000`: false} {
		schema := mustSchema(t, `{"type": "object", "properties": {"items": {"type": "array", `+items+`, "items": {"type": "string", "maxLength": 20}}}}`)
		if _, err := mustEnv(t, schema).Text(loop, Params); (err == nil) != fine {
			t.Errorf("with %s: %v", items, err)
		}
	}
}

func TestTheBudgetIsForEachExpression(t *testing.T) {
	env := mustEnv(t, nil)
	half := "${[params.items].size()}"
	if _, err := mustText(t, env, strings.Repeat(half, 8)).Value(manyItems(50_000)); err != nil {
		t.Error(err)
	}
	_, err := mustText(t, env, "${["+strings.Repeat("params.items, ", 8)+"].size()}").Value(manyItems(50_000))
	says(t, err, "more than 250000 members")
}

func TestOutputIsBounded(t *testing.T) {
	env := mustEnv(t, nil)
	for _, c := range []struct {
		text string
		size int
		fine bool
	}{
		{"${params.s}", MaxOutputBytes - 1, true},
		{"${params.s}", MaxOutputBytes, false},
		{"a${params.s}", MaxOutputBytes - 1, true},
		{"a${params.s}", MaxOutputBytes, false},
		{"${params.s}${params.s}", MaxOutputBytes / 2, true},
		{"${params.s}${params.s}", MaxOutputBytes/2 + 1, false},
		{"${[params.s, params.s]}", MaxOutputBytes / 2, false},
		{"${{params.s: 1}}", MaxOutputBytes, false},
	} {
		_, err := mustText(t, env, c.text).Value(Input{Params: map[string]any{"s": strings.Repeat("x", c.size)}})
		if c.fine && err != nil {
			t.Errorf("%s of %d: %v", c.text, c.size, err)
		} else if !c.fine {
			says(t, err, "256 KiB")
		}
	}
}

// TestBuildersStopBeforeTheyBuild: the call itself is refused, and not what it cost afterwards.
func TestBuildersStopBeforeTheyBuild(t *testing.T) {
	env := mustEnv(t, nil)
	in := Input{Params: map[string]any{"s": strings.Repeat("x", 2000), "list": []any{"a", "b"}, "long": strings.Repeat("x", maxStringBytes)}}
	for _, text := range []string{
		"${params.s.replace('x', params.s)}", "${params.s.replace('x', params.s, 600)}", "${params.s.replace('', params.s)}",
		"${params.list.join(params.long)}",
	} {
		_, err := mustText(t, env, text).Value(in)
		says(t, err, "makes a string of more than 1048576 bytes")
	}
	if got, err := mustText(t, env, "${params.s.replace('x', params.s, 1).size()}").Value(in); err != nil || got != int64(3999) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestWeigh(t *testing.T) {
	list := types.DefaultTypeAdapter.NativeToValue([]any{int64(1), "x", strings.Repeat("x", 640), map[string]any{"k": nil}})
	if got := weigh(list, 1000); got != 1+1+1+11+3 {
		t.Errorf("weighs %d", got)
	}
	if got := weigh(list, 3); got < 3 || got > 15 {
		t.Errorf("weighing did not stop: %d", got)
	}
}
