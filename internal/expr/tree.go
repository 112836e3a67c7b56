package expr

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

const (
	// maxTreeExpressions bounds the expressions of one JSON value.
	maxTreeExpressions = 256
	// maxTreeBytes bounds what a JSON value comes to.
	maxTreeBytes = 1 << 20
)

// Tree is a JSON value whose strings may hold expressions, compiled. It is immutable and safe for concurrent use.
type Tree struct{ root any }

// Tree compiles any JSON value: each string in it may hold expressions, the keys of objects may not. Every fault is
// reported, each with its path. Numbers keep the digits that they are written with.
func (e *Env) Tree(raw []byte, allowed Variables) (*Tree, error) {
	value, err := decodeNumbers(raw)
	if err != nil {
		return nil, err
	}
	c := treeCompiler{env: e, allowed: allowed}
	root := c.compile(value, "")
	if c.expressions > maxTreeExpressions {
		c.errs = append(c.errs, fmt.Errorf("has %d expressions, and at most %d are allowed", c.expressions, maxTreeExpressions))
	}
	if len(c.errs) > 0 {
		return nil, errors.Join(c.errs...)
	}
	return &Tree{root: root}, nil
}

// treeCompiler puts a *Text in the place of each string.
type treeCompiler struct {
	env         *Env
	allowed     Variables
	expressions int
	errs        []error
}

func (c *treeCompiler) compile(value any, path string) any {
	switch v := value.(type) {
	case string:
		text, err := c.env.Text(v, c.allowed)
		if err != nil {
			c.fail(path, err)
			return nil
		}
		if constant, ok := text.Constant(); ok {
			return constant
		}
		c.expressions += len(text.pieces)
		return text
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			list[i] = c.compile(element, fmt.Sprintf("%s[%d]", path, i))
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			object[c.key(name, path)] = c.compile(v[name], below(path, name))
		}
		return object
	}
	return value
}

func (c *treeCompiler) key(name, path string) string {
	parts, err := scan(name)
	if err != nil {
		c.fail(below(path, name), err)
		return name
	}
	for _, p := range parts {
		if p.isExpression {
			c.fail(below(path, name), errors.New("the key of an object may not hold expressions; a literal ${ is written $${"))
			return name
		}
		return p.text
	}
	return name
}

func (c *treeCompiler) fail(path string, err error) {
	if path != "" {
		err = fmt.Errorf("%s: %w", path, err)
	}
	c.errs = append(c.errs, err)
}

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// JSON evaluates to compact JSON with the members of objects sorted by name. A string that is one expression becomes a
// value of the expression's type.
func (t *Tree) JSON(in Input) ([]byte, error) {
	left := room(maxTreeBytes)
	value, err := fill(t.root, in, &left, "")
	if err != nil {
		return nil, err
	}
	return encodeJSON(value)
}

// fill evaluates the texts of a value. The room is taken by what they come to.
func fill(value any, in Input, left *room, path string) (any, error) {
	switch v := value.(type) {
	case *Text:
		out, err := v.Value(in)
		if err == nil {
			var raw []byte
			if raw, err = encodeJSON(out); err == nil {
				out, err = json.RawMessage(raw), left.take(len(raw))
			}
		}
		if err != nil && path != "" {
			err = fmt.Errorf("%s: %w", path, err)
		}
		return out, err
	case []any:
		list := make([]any, len(v))
		for i := range v {
			var err error
			if list[i], err = fill(v[i], in, left, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		object := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			var err error
			if object[name], err = fill(v[name], in, left, below(path, name)); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	return value, nil
}
