package effect

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/taskonce/taskonce/internal/expr"
)

// asStored returns JSON in its canonical form and as it comes back from the API server, which has integers of 64 bits and
// doubles and would round any other number, or take the whole object for unreadable. A number that would become another one
// is kept as a string of its digits, so that a receipt's number stays the receipt's number.
func asStored(raw []byte) ([]byte, error) {
	value, err := expr.DecodeNumbers(raw)
	if err != nil {
		return nil, err
	}
	return expr.EncodeJSON(storable(value))
}

func storable(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name := range value {
			value[name] = storable(value[name])
		}
	case []any:
		for i := range value {
			value[i] = storable(value[i])
		}
	case json.Number:
		return storableNumber(string(value))
	}
	return value
}

func storableNumber(written string) any {
	if integer, err := strconv.ParseInt(written, 10, 64); err == nil {
		return integer
	}
	double, err := strconv.ParseFloat(written, 64)
	if err != nil {
		return written
	}
	// 17 digits are what other languages print of a double, to be sure of it.
	for _, precision := range []int{-1, 16} {
		if decimalOf(written) == decimalOf(strconv.FormatFloat(double, 'e', precision, 64)) {
			return double
		}
	}
	return written
}

// decimal is a number as digits, without zeros at either end, times a power of ten.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// decimalOf reads a number of JSON. It never computes one: an exponent can ask for more digits than there is memory.
func decimalOf(number string) (d decimal) {
	number, d.negative = strings.CutPrefix(number, "-")
	mantissa := number
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		mantissa = number[:at]
		d.exponent, _ = strconv.Atoi(number[at+1:]) // beyond an int it is the largest, which no double has
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d.exponent -= len(fraction)
	digits := strings.TrimLeft(whole+fraction, "0")
	d.digits = strings.TrimRight(digits, "0")
	d.exponent += len(digits) - len(d.digits)
	if d.digits == "" {
		return decimal{} // zero has no sign that counts
	}
	return d
}
