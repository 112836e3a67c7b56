package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/taskonce/taskonce/internal/expr"
)

// beforehand is what expressions may speak of while there is no answer yet.
const beforehand = expr.Params | expr.Submission

// aPod is where a Job's template has its pod.
const aPod = "effect.job.template.spec.template.spec."

// places are where a template holds expressions that can be evaluated before there is an answer, and how the operator
// evaluates them. All else stays as it is written: what depends on an answer, names of Secrets, the rest of a pod.
var places = map[string]func(r *renderer, path string, value any) any{
	"effect.http.url":                     asAddress(beforehand),
	"effect.http.headers[].value":         asText(beforehand | expr.Attempt),
	"effect.http.body":                    asBody,
	"verification.http.url":               asAddress(beforehand | expr.Attempt),
	"verification.http.headers[].value":   asText(beforehand | expr.Attempt),
	"verification.http.body":              asBody,
	"effect.sql.statements[].args[]":      asArgument,
	"effect.sql.result.args[]":            asArgument,
	aPod + "initContainers[].command[]":   asText(beforehand),
	aPod + "initContainers[].args[]":      asText(beforehand),
	aPod + "initContainers[].env[].value": asText(beforehand),
	aPod + "containers[].command[]":       asText(beforehand),
	aPod + "containers[].args[]":          asText(beforehand),
	aPod + "containers[].env[].value":     asText(beforehand),
}

// part evaluates a part of a template.
func (r *renderer) part(name string, part any) json.RawMessage {
	raw, err := json.Marshal(part)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber() // digit for digit
		var decoded any
		if err = decoder.Decode(&decoded); err == nil {
			raw, err = json.Marshal(r.walk(name, "spec."+name, decoded))
		}
	}
	if r.err == nil {
		r.err = err
	}
	return raw
}

// walk evaluates what is at one of the places below one, which is a path whose lists have no index.
func (r *renderer) walk(place, path string, value any) any {
	if r.err != nil {
		return value
	}
	if evaluate := places[place]; evaluate != nil {
		return evaluate(r, path, value)
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = r.walk(place+"."+name, path+"."+name, v[name])
		}
	case []any:
		for i := range v {
			v[i] = r.walk(place+"[]", fmt.Sprintf("%s[%d]", path, i), v[i])
		}
	}
	return value
}

func asAddress(sees expr.Variables) func(*renderer, string, any) any {
	return func(r *renderer, path string, value any) any {
		compiled, err := r.env.URL(fmt.Sprint(value), sees)
		return evaluated(r, path, compiled, err, (*expr.URL).Render)
	}
}

func asText(sees expr.Variables) func(*renderer, string, any) any {
	return func(r *renderer, path string, value any) any {
		compiled, err := r.env.Text(fmt.Sprint(value), sees)
		return evaluated(r, path, compiled, err, (*expr.Text).String)
	}
}

// asArgument keeps its type, as the database gets it.
func asArgument(r *renderer, path string, value any) any {
	compiled, err := r.env.Text(fmt.Sprint(value), beforehand)
	return evaluated(r, path, compiled, err, (*expr.Text).Value)
}

// asBody takes any JSON: its members mean nothing to the operator, whatever their names.
func asBody(r *renderer, path string, value any) any {
	raw, err := json.Marshal(value)
	if err != nil {
		r.err = fmt.Errorf("%s: %w", path, err)
		return nil
	}
	compiled, err := r.env.Tree(raw, beforehand)
	return json.RawMessage(evaluated(r, path, compiled, err, (*expr.Tree).JSON))
}
