package expr

import (
	"strings"
	"testing"
)

func TestSchemaErrors(t *testing.T) {
	property := func(text string) string { return `{"type": "object", "properties": {"a": ` + text + `}}` }
	for _, c := range []struct {
		reason, raw string
		words       []string
	}{
		{"no JSON", `{`, []string{"openAPIV3Schema", "no JSON"}},
		{"no object", `"x"`, []string{"must be an object"}},
		{"a string", `{"type": "string"}`, []string{"openAPIV3Schema.type", "must be object"}},
		{"no type", `{}`, []string{"openAPIV3Schema.type"}},
		{"no type below", property(`{"description": "x"}`), []string{"openAPIV3Schema.properties[a].type", "Required"}},
		{"a default", property(`{"type": "string", "default": "x"}`), []string{"openAPIV3Schema.properties[a].default", "orValue"}},
		{"a default in a list", property(`{"type": "array", "items": {"type": "string", "default": "x"}}`), []string{"properties[a].items.default"}},
		{"a default in a map", property(`{"type": "object", "additionalProperties": {"type": "string", "default": "x"}}`), []string{"properties[a].additionalProperties.default"}},
		{"a word that is none", property(`{"type": "string", "maxlength": 3}`), []string{"openAPIV3Schema.properties.a.maxlength", "is not a word"}},
		{"a word that is none, in a list", property(`{"type": "array", "items": {"type": "string", "len": 3}}`), []string{"items.len"}},
		{"a reference", property(`{"$ref": "#/x"}`), []string{"$ref"}},
		{"a bad pattern", property(`{"type": "string", "pattern": "("}`), []string{"properties[a].pattern", "missing closing )"}},
		{"a bad pattern in anyOf", property(`{"type": "string", "anyOf": [{"pattern": "a"}, {"pattern": "("}]}`), []string{"properties[a].anyOf[1].pattern"}},
		{"a bad pattern in not", property(`{"type": "string", "not": {"pattern": "("}}`), []string{"properties[a].not.pattern"}},
		{"a wrong type", property(`{"type": "strin"}`), []string{"properties[a].type"}},
		{"a rule that does not compile", property(`{"type": "string", "x-kubernetes-validations": [{"rule": "self.nope"}]}`), []string{"properties[a].x-kubernetes-validations[0].rule"}},
		{"a rule without a rule", property(`{"type": "string", "x-kubernetes-validations": [{"rule": " "}]}`), []string{"[0].rule"}},
		{"a rule over oldSelf", property(`{"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}`), []string{"oldSelf", "never change"}},
		{"a rule in a list", property(`{"type": "array", "items": {"type": "string", "x-kubernetes-validations": [{"rule": "self > 1"}]}}`), []string{"items.x-kubernetes-validations[0].rule"}},
		{"a rule in a map", property(`{"type": "object", "additionalProperties": {"type": "string", "x-kubernetes-validations": [{"rule": "self > 1"}]}}`), []string{"additionalProperties.x-kubernetes-validations[0].rule"}},
		{"a rule that costs too much", property(`{"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, x == y))"}]}`), []string{"cost too much", "maxItems"}},
		{"a bad message expression", property(`{"type": "string", "x-kubernetes-validations": [{"rule": "self == 'a'", "messageExpression": "1 +"}]}`), []string{"[0].messageExpression"}},
		{"two faults", `{"type": "object", "properties": {"a": {"type": "string", "default": "x"}, "b": {"type": "string", "pattern": "("}}}`, []string{"properties[a].default", "properties[b].pattern"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			_, err := NewSchema([]byte(c.raw))
			says(t, err, c.words...)
		})
	}
}

func TestZeroValuesInASchemaAreNoUnknownWords(t *testing.T) {
	mustSchema(t, `{"type": "object", "description": "", "nullable": false, "required": [], "properties": {"a": {"type": "string", "minLength": 0, "uniqueItems": false}}}`)
}

const orderSchema = `{
  "type": "object", "required": ["taskId"],
  "x-kubernetes-validations": [{"rule": "!has(self.points) || self.points <= self.taskId", "message": "points must not be above taskId"}],
  "properties": {
    "taskId": {"type": "integer", "minimum": 1},
    "points": {"type": "integer"},
    "code": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 4},
    "amount": {"type": "number"},
    "maybe": {"type": "string", "nullable": true},
    "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
    "lines": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}
  }
}`

func TestValidate(t *testing.T) {
	schema := mustSchema(t, orderSchema)
	for _, c := range []struct {
		reason, raw string
		words       []string // none: it is valid
	}{
		{"the least", `{"taskId": 1}`, nil},
		{"everything", `{"taskId": 9007199254740993, "points": 2, "code": "ab", "amount": 3, "maybe": null, "tags": ["a", "b"], "lines": [{"n": 1}], "free": {"x": {"y": 1}}}`, nil},
		{"no object", `[1]`, []string{"params: must be a JSON object"}},
		{"null", `null`, []string{"params: must be a JSON object"}},
		{"no JSON", `{`, []string{"params: no JSON"}},
		{"nothing", ``, []string{"params: no JSON"}},
		{"a missing field", `{}`, []string{"params.taskId", "Required"}},
		{"a wrong type", `{"taskId": "1"}`, []string{"params.taskId", "integer"}},
		{"too small", `{"taskId": 0}`, []string{"params.taskId", "greater than or equal to 1"}},
		{"null where there may be none", `{"taskId": 1, "code": null}`, []string{"params.code"}},
		{"an unknown field", `{"taskId": 1, "taskID": 1}`, []string{"params.taskID", "no such field"}},
		{"an unknown field in a list", `{"taskId": 1, "lines": [{"n": 1}, {"m": 1}]}`, []string{"params.lines[1].m", "no such field"}},
		{"no match of the pattern", `{"taskId": 1, "code": "A"}`, []string{"params.code", "'^[a-z]+$'"}},
		{"several faults", `{"taskId": 0, "code": "ABCDE", "nope": 1}`, []string{"params.taskId", "params.code", "params.nope", "may not be more than 4"}},
		{"twice in a set", `{"taskId": 1, "tags": ["a", "a"]}`, []string{"params.tags[1]", "Duplicate"}},
		{"digits that a number loses", `{"taskId": 1, "amount": 9007199254740993}`, []string{"params.amount", "9007199254740993", "lose digits"}},
		{"the largest whole number that is exact", `{"taskId": 1, "amount": 9007199254740992}`, nil},
		{"the smallest", `{"taskId": 1, "amount": -9007199254740992}`, nil},
		{"below it", `{"taskId": 1, "amount": -9007199254740993}`, []string{"params.amount"}},
		{"a broken rule", `{"taskId": 1, "points": 2}`, []string{"params", "points must not be above taskId"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			err := schema.Validate([]byte(c.raw))
			if c.words == nil && err != nil {
				t.Error(err)
			} else if c.words != nil {
				says(t, err, c.words...)
			}
		})
	}
}

func TestFaultsAreInAStableOrder(t *testing.T) {
	schema := mustSchema(t, orderSchema)
	raw := []byte(`{"taskId": 0, "code": "ABCDE", "nope": 1, "nope2": 2, "points": "x"}`)
	first := schema.Validate(raw).Error()
	for range 20 {
		if again := schema.Validate(raw).Error(); again != first {
			t.Fatalf("the message flaps:\n%s\n---\n%s", first, again)
		}
	}
	if lines := strings.Count(first, "\n") + 1; lines != 5 {
		t.Errorf("%d lines:\n%s", lines, first)
	}
}

func TestWholeNumbersWrittenWithAPointAreIntegers(t *testing.T) {
	schema := mustSchema(t, `{"type": "object", "properties": {"n": {"type": "integer"}, "m": {"type": "object", "additionalProperties": {"type": "number"}}}}`)
	raw := []byte(`{"n": 3.0, "m": {"x": 1}}`)
	if err := schema.Validate(raw); err != nil {
		t.Fatal(err)
	}
	params, err := DecodeJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := mustText(t, mustEnv(t, schema), "${string(params.n + 1) + string(params.m.x + 0.5)}").Value(Input{Params: params}); err != nil || got != "41.5" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestDigitsAreNotLostInAnExpression(t *testing.T) {
	env := mustEnv(t, mustSchema(t, orderSchema))
	_, err := mustText(t, env, "${params.amount}").Value(Input{Params: map[string]any{"amount": int64(9007199254740993)}})
	says(t, err, "params.amount", "lose digits")
}

func TestTypesOfRoots(t *testing.T) {
	open := mustEnv(t, mustSchema(t, `{"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"n": {"type": "integer"}}}`))
	if got, err := mustText(t, open, "${params.any}").Value(Input{Params: map[string]any{"any": "x"}}); err != nil || got != "x" {
		t.Errorf("got %v, %v", got, err)
	}
	_, err := open.Text("${params + 1}", Params)
	says(t, err, "no matching overload")
	closed := mustEnv(t, mustSchema(t, `{"type": "object"}`))
	_, err = closed.Text("${params.any}", Params)
	says(t, err, "undefined field")
	texts := mustEnv(t, mustSchema(t, `{"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": "string"}}}}`))
	_, err = texts.Text("${params.m.any + 1}", Params)
	says(t, err, "(string, int)")
}
