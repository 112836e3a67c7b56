package expr

import (
	"fmt"
	"strings"
)

// Text is a string with expressions, compiled. It is immutable and safe for concurrent use.
type Text struct {
	env    *Env
	pieces []piece
	uses   Variables
}

// piece is literal text, or an expression where there is one.
type piece struct {
	literal    string
	expression *expression
}

// Text compiles a string that may hold expressions over the allowed variables. The error names the expression and its
// place in the string.
func (e *Env) Text(text string, allowed Variables) (*Text, error) {
	parts, err := scan(text)
	if err != nil {
		return nil, err
	}
	t := &Text{env: e}
	for _, p := range parts {
		if !p.isExpression {
			t.pieces = append(t.pieces, piece{literal: p.text})
			continue
		}
		x, err := e.compile(p, allowed)
		if err != nil {
			return nil, err
		}
		t.pieces = append(t.pieces, piece{expression: x})
		t.uses |= x.uses
	}
	return t, nil
}

// Value evaluates. A string that is one expression and nothing else keeps its type: nil, bool, int64, float64,
// string, []any or map[string]any. Any other comes to a string, as String has it. The result has no more than
// MaxOutputBytes; what does not evaluate is an error that names the expression.
func (t *Text) Value(in Input) (any, error) {
	values, err := t.env.bind(in, t.uses)
	if err != nil {
		return nil, err
	}
	return t.value(values)
}

func (t *Text) value(values *activation) (any, error) {
	if len(t.pieces) != 1 || t.pieces[0].expression == nil {
		return t.text(values, unescaped)
	}
	x := t.pieces[0].expression
	value, err := x.evaluate(values)
	if err != nil {
		return nil, err
	}
	left := room(MaxOutputBytes)
	plain, err := left.toJSON(value)
	if err != nil {
		return nil, x.fault(err)
	}
	return plain, nil
}

// String evaluates to text: scalars are written out, whole numbers with all their digits; null, a list or a map has no
// text and is an error.
func (t *Text) String(in Input) (string, error) {
	values, err := t.env.bind(in, t.uses)
	if err != nil {
		return "", err
	}
	return t.text(values, unescaped)
}

// Escaped is as String, and passes what each expression comes to through escape. Text around expressions stays.
func (t *Text) Escaped(in Input, escape func(string) string) (string, error) {
	values, err := t.env.bind(in, t.uses)
	if err != nil {
		return "", err
	}
	return t.text(values, func(text string) (string, error) { return escape(text), nil })
}

func (t *Text) text(values *activation, escape func(string) (string, error)) (string, error) {
	var out strings.Builder
	for _, p := range t.pieces {
		text := p.literal
		if p.expression != nil {
			var err error
			if text, err = p.expression.text(values, escape); err != nil {
				return "", err
			}
		}
		if out.Len()+len(text) > MaxOutputBytes {
			return "", fmt.Errorf("the string %w", errTooLarge)
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

func unescaped(text string) (string, error) { return text, nil }

// text evaluates to text, and passes that through escape.
func (x *expression) text(values *activation, escape func(string) (string, error)) (string, error) {
	value, err := x.evaluate(values)
	if err != nil {
		return "", err
	}
	text, err := scalarText(value)
	if err == nil {
		text, err = escape(text)
	}
	if err != nil {
		return "", x.fault(err)
	}
	return text, nil
}

// Constant returns the text, and true, where there is no expression in it.
func (t *Text) Constant() (string, bool) {
	var out strings.Builder
	for _, p := range t.pieces {
		if p.expression != nil {
			return "", false
		}
		out.WriteString(p.literal)
	}
	return out.String(), true
}
