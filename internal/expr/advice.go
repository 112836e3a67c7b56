package expr

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/interpreter"
)

// shortened is the source of an expression as messages quote it.
func shortened(source string) string {
	const most = 80
	source = strings.TrimSpace(source)
	if characters := []rune(source); len(characters) > most {
		return string(characters[:most]) + "…"
	}
	return source
}

// explain turns CEL's findings into one line that also says what can be done.
func (e *Env) explain(found []*cel.Error, p part, allowed Variables) string {
	var lines []string
	for i, f := range found {
		if i == 3 {
			lines = append(lines, fmt.Sprintf("and %d more", len(found)-i))
			break
		}
		message := strings.ReplaceAll(f.Message, " (in container '')", "")
		lines = append(lines, fmt.Sprintf("%s (at its character %s)", message+e.hint(message, p.text, allowed), place(f)))
	}
	return strings.Join(lines, "; ")
}

func place(f *cel.Error) string {
	if f.Location.Line() > 1 {
		return fmt.Sprintf("%d of line %d", f.Location.Column()+1, f.Location.Line())
	}
	return fmt.Sprint(f.Location.Column() + 1)
}

func (e *Env) hint(message, source string, allowed Variables) string {
	switch {
	case strings.HasPrefix(message, "undeclared reference"):
		return "; the variables here are: " + allowed.String()
	case strings.HasPrefix(message, "undefined field"):
		return e.fieldsHint(strings.Trim(strings.TrimPrefix(message, "undefined field"), " '"), source)
	case strings.Contains(message, "'_[_]' applied to '(object"):
		return "; a member is written .name, and .`name` where the name is no identifier"
	case strings.HasPrefix(message, "found no matching overload for '_"):
		return "; convert one side with string(…), int(…) or double(…), and write 1.0 for a number"
	}
	return ""
}

// fieldsHint lists the fields of the variable of which a source names one that it does not have.
func (e *Env) fieldsHint(field, source string) string {
	for _, n := range names {
		fields, typed := e.objects["object "+n.name]
		if !typed || !strings.Contains(source, n.name+"."+field) && !strings.Contains(source, n.name+".?"+field) {
			continue
		}
		hint := fmt.Sprintf("; %s has: %s", n.name, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		if n.variable == Params {
			hint += " (see parametersSchema)"
		}
		return hint
	}
	return "; see the properties in parametersSchema"
}

// advise adds to an error of an evaluation what can be done about it.
func advise(err error) error {
	var cancelled interpreter.EvalCancelledError
	switch message := err.Error(); {
	case errors.As(err, &cancelled):
		return fmt.Errorf("costs more than %d units with these values: loop less, or bound the parameters in parametersSchema", maxCost)
	case strings.HasPrefix(message, "no such key"):
		return fmt.Errorf("%w; where it may be absent, write .?name.orValue(…), or ask has(…) first", err)
	case strings.HasPrefix(message, "no such overload"):
		return fmt.Errorf("%w: the types of the values do not fit; convert with string(…), int(…) or double(…)", err)
	}
	return err
}
