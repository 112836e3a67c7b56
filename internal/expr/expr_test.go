package expr

import (
	"reflect"
	"strings"
	"sync"
	"testing"
)

const everything = Params | Submission | Attempt | Response

const schemaText = `{
  "type": "object", "required": ["id"],
  "properties": {
    "id": {"type": "integer"},
    "name": {"type": "string", "maxLength": 100},
    "price": {"type": "number"},
    "maybe": {"type": "integer", "nullable": true},
    "in-x": {"type": "string"},
    "when": {"type": "string", "format": "date-time"},
    "addr": {"type": "object", "properties": {"zip": {"type": "string"}}},
    "items": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}, "p": {"type": "number"}}}},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    "port": {"x-kubernetes-int-or-string": true}
  }
}`

const paramsText = `{
  "id": 9007199254740993, "name": "a/b c", "price": 3, "maybe": null, "in-x": "q", "when": "2026-01-02T03:04:05.000Z",
  "addr": {"zip": "01"}, "items": [{"n": 1, "p": 2}, {"n": 2, "p": 1.5}], "labels": {"k": "v"}, "free": {"a": 1}, "port": "http"
}`

func mustSchema(t testing.TB, text string) *Schema {
	t.Helper()
	schema, err := NewSchema([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func mustEnv(t testing.TB, schema *Schema) *Env {
	t.Helper()
	env, err := NewEnv(schema)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func mustText(t testing.TB, env *Env, text string) *Text {
	t.Helper()
	compiled, err := env.Text(text, everything)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func typedEnv(t testing.TB) *Env { return mustEnv(t, mustSchema(t, schemaText)) }

func input(t testing.TB) Input {
	t.Helper()
	params, err := DecodeJSON([]byte(paramsText))
	if err != nil {
		t.Fatal(err)
	}
	return Input{
		Params:     params,
		Submission: map[string]string{"name": "n", "namespace": "ns", "key": "k", "businessKey": "b", "downstreamKey": "ns/n"},
		Attempt:    2,
		Response: map[string]any{
			"status": int64(409), "headers": map[string]string{"etag": "7"}, "body": map[string]any{"id": int64(9007199254740993)},
		},
	}
}

// says checks that an error holds each of the words.
func says(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; it should say %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not say %q: %v", word, err)
		}
	}
}

func TestValue(t *testing.T) {
	env, in := typedEnv(t), input(t)
	for _, c := range []struct {
		reason, text string
		want         any
	}{
		{"a constant is itself", "plain", "plain"},
		{"nothing is the empty string", "", ""},
		{"one expression keeps its type, and every digit", "${params.id}", int64(9007199254740993)},
		{"white space inside the braces is no text", "${ params.id }", int64(9007199254740993)},
		{"white space outside is", " ${params.id}", " 9007199254740993"},
		{"text around makes a string", "x-${params.id}-${attempt}", "x-9007199254740993-2"},
		{"arithmetic on integers is exact", "${params.id + 2}", int64(9007199254740995)},
		{"a whole number in a number field is a double", "${params.price * 1.5}", 4.5},
		{"so it is in a list", "${params.items[0].p / 4.0}", 0.5},
		{"ints and doubles compare", "${params.price > 2}", true},
		{"precedence is CEL's", "${1 + 2 * 3 == 7 && !false || false}", true},
		{"null stays null", "${params.maybe}", nil},
		{"what may be null can be asked so", "${params.maybe == null ? '-' : 'x'}", "-"},
		{"a date is the text that was sent", "${params.when}", "2026-01-02T03:04:05.000Z"},
		{"and can be read as one", "${timestamp(params.when).getFullYear()}", int64(2026)},
		{"a list of objects can be looped over", "${params.items.filter(i, has(i.p)).map(i, i.n * 10)}", []any{int64(10), int64(20)}},
		{"objects are values", "${params.addr}", map[string]any{"zip": "01"}},
		{"a field that is no identifier", "${params.`in-x`}", "q"},
		{"free fields are dyn", "${params.free.a + 1}", int64(2)},
		{"int or string is dyn", "${params.port}", "http"},
		{"an optional that is there", "${params.?name.orValue('-')}", "a/b c"},
		{"an optional that is not", "${params.labels.?nope.orValue('-')}", "-"},
		{"an optional alone is its value", "${params.?name}", "a/b c"},
		{"the submission", "${submission.namespace}/${submission.name}:${submission.key}:${submission.businessKey}:${submission.downstreamKey}", "ns/n:k:b:ns/n"},
		{"the response", "${response.status == 409 && response.headers.etag == '7'}", true},
		{"a response keeps its digits", "${response.body.id}", int64(9007199254740993)},
		{"the strings library is there", "${params.name.upperAscii().replace('/', '-')}", "A-B C"},
		{"join is there", "${['a','b'].join(',')}${['a','b'].join()}", "a,bab"},
		{"replace with a count", "${'aaa'.replace('a','b',2)}", "bba"},
		{"uint", "${5u}", int64(5)},
		{"bytes are base64", "${b'abc'}", "YWJj"},
		{"timestamps are RFC 3339", "${timestamp('2024-01-01T01:00:00+01:00')}", "2024-01-01T00:00:00Z"},
		{"durations are seconds", "${duration('1m30.5s')}", "90.5s"},
		{"keys that are numbers become strings", "${{1: 'a'}}", map[string]any{"1": "a"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if got, err := mustText(t, env, c.text).Value(in); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s is %#v (%v), want %#v", c.text, got, err, c.want)
			}
		})
	}
}

func TestWithoutASchemaParametersAreAnything(t *testing.T) {
	text := mustText(t, mustEnv(t, nil), "${params.any.thing + 1}")
	if got, err := text.Value(Input{Params: map[string]any{"any": map[string]any{"thing": int64(1)}}}); err != nil || got != int64(2) {
		t.Errorf("got %v, %v", got, err)
	}
	_, err := text.Value(Input{})
	says(t, err, "no such key: any")
}

func TestString(t *testing.T) {
	env, in := typedEnv(t), input(t)
	for text, want := range map[string]string{
		"${params.id}":              "9007199254740993",
		"${-9223372036854775807-1}": "-9223372036854775808",
		"${18446744073709551615u}":  "18446744073709551615",
		"${params.price}":           "3",
		"${0.1}":                    "0.1",
		"${true}":                   "true",
		"${1e21}":                   "1e+21",
		"a${''}b":                   "ab",
	} {
		if got, err := mustText(t, env, text).String(in); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", text, got, err, want)
		}
	}
}

func TestKeyIsTheSharedFunction(t *testing.T) {
	env, in := typedEnv(t), input(t)
	for text, want := range map[string]string{
		"${key('a')}":                                 "a",
		"${key('a:b', '%', params.id)}":               "a%3Ab:%25:9007199254740993",
		"${key(1, 'b', true, 1.5, 5u, '', 'g', 'h')}": "1:b:true:1.5:5::g:h",
	} {
		if got, err := mustText(t, env, text).String(in); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", text, got, err, want)
		}
	}
}

func TestCompileErrorsSayWhatToDo(t *testing.T) {
	env := typedEnv(t)
	for _, c := range []struct {
		reason, text string
		allowed      Variables
		words        []string
	}{
		{"an unknown field", "id ${params.nope}", everything, []string{`"params.nope" at character 6`, "undefined field 'nope'", "params has: addr, free, id", "parametersSchema"}},
		{"an unknown nested field", "${params.addr.nope}", everything, []string{"undefined field 'nope'", "parametersSchema"}},
		{"an unknown optional field", "${params.?nope}", everything, []string{"undefined field 'nope'", "params has: addr"}},
		{"an unknown field of an element", "${params.items.map(i, i.nope)}", everything, []string{"undefined field 'nope'"}},
		{"an unknown field of the response", "${response.code}", everything, []string{"response has: body, headers, status"}},
		{"an unknown field of the submission", "${submission.uid}", everything, []string{"submission has: businessKey"}},
		{"types that do not fit", "${params.id + 'a'}", everything, []string{"(int, string)", "string(…)"}},
		{"int and double", "${params.price + 1}", everything, []string{"(double, int)", "1.0"}},
		{"an object is no map", "${params['id']}", everything, []string{".name"}},
		{"an unknown variable", "${request.x}", Params | Attempt, []string{"undeclared reference to 'request'", "params, attempt"}},
		{"a variable of another place", "${response.status}", Params | Submission, []string{"response cannot be used here", "params, submission"}},
		{"no variable is allowed", "${params.id}", 0, []string{"params cannot be used here", "none"}},
		{"a variable of another place, in a loop", "${[1].map(x, x + attempt)}", Params, []string{"attempt cannot be used here"}},
		{"a variable of another place, behind a dot", "${.attempt}", Params, []string{"attempt cannot be used here"}},
		{"a loop variable with one of our names", "${[1].map(response, response)}", everything, []string{"loop variable response", "rename"}},
		{"no function of that name", "${now()}", everything, []string{"undeclared reference to 'now'"}},
		{"key without parts", "${key()}", everything, []string{"'key'"}},
		{"key with nine parts", "${key(1,2,3,4,5,6,7,8,9)}", everything, []string{"'key'"}},
		{"bad syntax", "${1 +}", everything, []string{"Syntax error", "at its character 4"}},
		{"a place on another line", "${1 +\n nope}", everything, []string{"of line 2"}},
		{"empty", "${ }", everything, []string{"is empty", "$${"}},
		{"not closed", "a ${params.id", everything, []string{"at character 3", "no closing }", "$${"}},
		{"a string not closed", "${'a}", everything, []string{"not closed", "' is missing"}},
		{"a bad pattern", "${params.name.matches('(')}", everything, []string{"matches"}},
		{"invalid UTF-8", "\xff", everything, []string{"UTF-8"}},
		{"too many expressions", strings.Repeat("${1}", MaxExpressions+1), everything, []string{"more than 32 expressions"}},
		{"too long", "${'" + strings.Repeat("x", maxSourceLength) + "'}", everything, []string{"4096", "…"}},
		{"too deep", "${" + strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200) + "}", everything, []string{"recursion"}},
		{"loops without bounds", "${params.items.all(a, params.items.all(b, params.items.all(c, a == b)))}", everything, []string{"may cost", "maxItems"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			_, err := env.Text(c.text, c.allowed)
			says(t, err, c.words...)
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %v", err)
			}
		})
	}
}

func TestExpressionsAtTheirLimitsAreFine(t *testing.T) {
	env := typedEnv(t)
	for _, text := range []string{
		strings.Repeat("${1}", MaxExpressions),
		"${'" + strings.Repeat("x", maxSourceLength-2) + "'}",
		"${params.items.all(a, params.items.exists(b, a == b))}",
	} {
		if _, err := env.Text(text, everything); err != nil {
			t.Error(err)
		}
	}
}

func TestEvaluationErrorsNameTheExpression(t *testing.T) {
	env, in := typedEnv(t), input(t)
	for _, c := range []struct {
		text  string
		words []string
	}{
		{"a ${params.labels.nope}", []string{"no such key: nope", "orValue"}},
		{"${params.items[9]}", []string{"index out of bounds"}},
		{"${1 / (params.id - params.id)}", []string{"division by zero"}},
		{"${9223372036854775807 + params.id}", []string{"integer overflow"}},
		{"${params.maybe + 1}", []string{"no such overload", "convert"}},
		{"${int(params.name)}", []string{"int(params.name)"}},
		{"a ${params.maybe}", []string{"is null", "condition"}},
		{"a ${params.addr}", []string{"is a map", "scalar"}},
		{"a ${[1]}", []string{"is a list", "join"}},
		{"${params.labels.?nope}", []string{"no value", "orValue"}},
		{"a${params.labels.?nope}", []string{"no value", "orValue"}},
		{"${1.0 / 0.0}", []string{"JSON cannot say"}},
		{"a ${1.0 / 0.0}", []string{"JSON cannot say"}},
		{"${18446744073709551615u}", []string{"more than an int"}},
		{"${type(1)}", []string{"no form in JSON"}},
		{"${{1: 'a', '1': 'b'}}", []string{"two keys"}},
		{"${{params.maybe: 1}}", []string{"key"}},
		{"${key(params.addr)}", []string{"argument 1 of key", "is a map"}},
		{"${key('a', params.maybe)}", []string{"argument 2 of key", "is null"}},
		{"${dyn([1]).join(',')}", []string{"join"}},
	} {
		t.Run(c.text, func(t *testing.T) {
			_, err := mustText(t, env, c.text).Value(in)
			says(t, err, append(c.words, "the expression")...)
		})
	}
}

func TestNoResponse(t *testing.T) {
	_, err := mustText(t, typedEnv(t), "${response.status}").Value(Input{})
	says(t, err, "response", "none")
}

func TestConstant(t *testing.T) {
	env := typedEnv(t)
	for text, want := range map[string]string{"": "", "a$b": "a$b", "$${x}": "${x}", "$": "$", "}{": "}{"} {
		if got, ok := mustText(t, env, text).Constant(); !ok || got != want {
			t.Errorf("%q is %q, %v", text, got, ok)
		}
	}
	if _, ok := mustText(t, env, "a${1}").Constant(); ok {
		t.Error("an expression is no constant")
	}
}

func TestCondition(t *testing.T) {
	env, in := typedEnv(t), input(t)
	for text, want := range map[string]bool{
		"${response.status == 409}":     true,
		" ${response.status < 400} ":    false,
		"${response.body.id > 1}":       true,
		"${has(response.body.nope)}":    false,
		"${params.free.a == 1 && true}": true,
	} {
		c, err := env.Condition(text, everything)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.True(in); err != nil || got != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	for text, word := range map[string]string{
		"response.status == 409":  "one expression",
		"${true} or not":          "one expression",
		"${true}${true}":          "one expression",
		"":                        "one expression",
		"${response.status}":      "must be true or false",
		"${params.?name}":         "must be true or false",
		"${true":                  "no closing",
		"${response.code == '1'}": "undefined field",
	} {
		_, err := env.Condition(text, everything)
		says(t, err, word)
	}
}

func TestConditionOnWhatIsNoBool(t *testing.T) {
	c, err := typedEnv(t).Condition("${response.body.id}", everything)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := c.True(input(t))
	says(t, err, "is a int", "true or false")
	if truth {
		t.Error("an error is not true")
	}
	_, err = c.True(Input{})
	says(t, err, "none")
}

func TestConcurrentUse(t *testing.T) {
	text, in := mustText(t, typedEnv(t), "${[[params.price, 1.0]].map(a, a[0])[0]}"), input(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if got, err := text.Value(in); err != nil || got != 3.0 {
					t.Errorf("got %v, %v", got, err)
				}
			}
		})
	}
	group.Wait()
}

func TestEvaluationLeavesTheInputAlone(t *testing.T) {
	in, before := input(t), input(t)
	if _, err := mustText(t, typedEnv(t), "${params.items[0].p + params.price}").Value(in); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(in, before) {
		t.Error("the parameters were changed in place")
	}
}
