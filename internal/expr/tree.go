package expr

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	// maxTreeExpressions bounds the expressions of one JSON value.
	maxTreeExpressions = 256
	// maxTreeBytes bounds what a JSON value comes to.
	maxTreeBytes = 1 << 20
)

// Tree is a JSON value whose strings may hold expressions, compiled. It is immutable and safe for concurrent use.
type Tree struct {
	env  *Env
	root any
	uses Variables
}

// Tree compiles any JSON value: each string in it may hold expressions, the keys of objects may not. Every fault is
// reported, each with its path. Numbers keep the digits that they are written with.
func (e *Env) Tree(raw []byte, allowed Variables) (*Tree, error) {
	value, err := DecodeNumbers(raw)
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
	return &Tree{env: e, root: root, uses: c.uses}, nil
}

// treeCompiler puts a *Text in the place of each string.
type treeCompiler struct {
	env         *Env
	allowed     Variables
	uses        Variables
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
		for _, p := range text.pieces {
			if p.expression != nil {
				c.expressions++
			}
		}
		c.uses |= text.uses
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
	var text strings.Builder
	for _, p := range parts {
		if p.isExpression {
			c.fail(below(path, name), errors.New("the key of an object may not hold expressions; a literal ${ is written $${"))
			return name
		}
		text.WriteString(p.text)
	}
	return text.String()
}

func (c *treeCompiler) fail(path string, err error) {
	c.errs = append(c.errs, at(path, err))
}

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// JSON evaluates to compact JSON with the members of objects sorted by name, of at most 1 MiB. A string that is one
// expression becomes a value of the expression's type. An error has the path of the string and names the expression.
func (t *Tree) JSON(in Input) ([]byte, error) {
	values, err := t.env.bind(in, t.uses)
	if err != nil {
		return nil, err
	}
	f := filler{values: values, left: maxTreeBytes}
	value, err := f.fill(t.root, "")
	if err != nil {
		return nil, err
	}
	return EncodeJSON(value)
}

// filler evaluates the texts of a value. What they come to takes room.
type filler struct {
	values *activation
	left   room
}

func (f *filler) fill(value any, path string) (any, error) {
	var err error
	switch v := value.(type) {
	case *Text:
		return f.evaluate(v, path)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			if list[i], err = f.fill(v[i], fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		object := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if object[name], err = f.fill(v[name], below(path, name)); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	return value, nil
}

func (f *filler) evaluate(text *Text, path string) (any, error) {
	value, err := text.value(f.values)
	if err != nil {
		return nil, at(path, err)
	}
	raw, err := EncodeJSON(value)
	if err == nil {
		err = f.left.take(len(raw))
	}
	if err != nil {
		return nil, at(path, err)
	}
	return json.RawMessage(raw), nil
}

func at(path string, err error) error {
	if path == "" {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
