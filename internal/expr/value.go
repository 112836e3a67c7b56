package expr

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// MaxOutputBytes bounds what one string of a template may come to at an evaluation.
const MaxOutputBytes = 256 << 10

var (
	errTooLarge = errors.New("comes to too much text: 256 KiB for one string, 1 MiB for a body; a body that is left out sends the parameters as they are")
	errNoValue  = errors.New(`has no value here: give it one with .orValue(…)`)
)

// room is how many bytes of output are left.
type room int

func (r *room) take(bytes int) error {
	if *r -= room(bytes); *r < 0 {
		return errTooLarge
	}
	return nil
}

// toJSON turns the value of an expression into a JSON-able Go value: nil, bool, int64, float64, string, []any or
// map[string]any. Bytes become base64, timestamps RFC 3339, durations seconds ("90s"). It stops as soon as the
// value proves larger than the room, so a value that shares its parts with itself a million times costs nothing.
func (r *room) toJSON(value ref.Val) (any, error) {
	if err := r.take(1); err != nil {
		return nil, err
	}
	switch v := value.(type) {
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		if v > math.MaxInt64 {
			return nil, fmt.Errorf("is %d, which is more than an int can be: make it a string with string(…)", v)
		}
		return int64(v), nil
	case types.Double:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, fmt.Errorf("is %v, which JSON cannot say", float64(v))
		}
		return float64(v), nil
	case *types.Optional:
		if !v.HasValue() {
			return nil, errNoValue
		}
		return r.toJSON(v.GetValue())
	case traits.Mapper:
		return r.object(v)
	case traits.Lister:
		return r.list(v)
	}
	text, err := textual(value)
	if err != nil {
		return nil, err
	}
	return text, r.take(len(text))
}

// textual renders the types that JSON knows as strings only.
func textual(value ref.Val) (string, error) {
	switch v := value.(type) {
	case types.String:
		return string(v), nil
	case types.Bytes:
		return base64.StdEncoding.EncodeToString(v), nil
	case types.Timestamp:
		return v.UTC().Format(time.RFC3339Nano), nil
	case types.Duration:
		return strconv.FormatFloat(v.Seconds(), 'f', -1, 64) + "s", nil
	}
	return "", fmt.Errorf("is a %s, which has no form in JSON", value.Type().TypeName())
}

func (r *room) list(list traits.Lister) (any, error) {
	out := []any{}
	for it := list.Iterator(); it.HasNext() == types.True; {
		value, err := r.toJSON(it.Next())
		if err != nil {
			return nil, err
		}
		out = append(out, value)
	}
	return out, nil
}

func (r *room) object(object traits.Mapper) (any, error) {
	out := map[string]any{}
	for it := object.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, err := scalarText(key)
		if err != nil {
			return nil, fmt.Errorf("has a key that %w", err)
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("has two keys that are both written %q in JSON", name)
		}
		if err := r.take(len(name)); err != nil {
			return nil, err
		}
		if out[name], err = r.toJSON(object.Get(key)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// scalarText renders a scalar as text: whole numbers with every digit, and nothing for what has no one text.
func scalarText(value ref.Val) (string, error) {
	switch v := value.(type) {
	case types.Uint:
		return strconv.FormatUint(uint64(v), 10), nil
	case types.Null:
		return "", errors.New("is null, which has no text: choose one with a condition, such as ${params.x == null ? '-' : params.x}")
	case *types.Optional:
		if v.HasValue() {
			return scalarText(v.GetValue())
		}
	case traits.Mapper, traits.Lister:
		return "", fmt.Errorf("is a %s, and only a scalar can be text: name one of its members, or join a list with .join(',')", value.Type().TypeName())
	}
	enough := room(math.MaxInt32)
	plain, err := enough.toJSON(value)
	if err != nil {
		return "", err
	}
	switch v := plain.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	default:
		text, err := EncodeJSON(v)
		return string(text), err
	}
}
