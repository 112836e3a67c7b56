package expr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// DecodeJSON decodes one JSON value the way expressions see it: objects are map[string]any, lists []any, whole
// numbers that fit are int64 with every digit, and other numbers are float64. A number that no float64 can hold, an
// empty input and anything behind the value are errors.
func DecodeJSON(raw []byte) (any, error) {
	value, err := DecodeNumbers(raw)
	if err != nil {
		return nil, err
	}
	return fromNumbers(value)
}

// DecodeNumbers decodes one JSON value and keeps its numbers as they are written: each is a json.Number. An empty input and
// anything behind the value are errors.
func DecodeNumbers(raw []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("no JSON: something follows the value")
	}
	return value, nil
}

// fromNumbers replaces each json.Number in a value, in place where it can.
func fromNumbers(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case json.Number:
		return fromNumber(v)
	case []any:
		for i := range v {
			if v[i], err = fromNumbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name := range v {
			if v[name], err = fromNumbers(v[name]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

func fromNumber(number json.Number) (any, error) {
	if whole, err := strconv.ParseInt(number.String(), 10, 64); err == nil {
		return whole, nil
	}
	float, err := strconv.ParseFloat(number.String(), 64)
	if err != nil || math.IsInf(float, 0) {
		return nil, fmt.Errorf("no usable JSON: the number %.40s is too large; write it as a string", number)
	}
	return float, nil
}

// EncodeJSON encodes in the form of v1alpha1.CanonicalJSON: members sorted by name, no white space, and <, > and & as they are.
func EncodeJSON(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
