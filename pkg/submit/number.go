package submit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// asStored returns a JSON object as the API server stores it: integers of up to 64 bits as they are, every other number
// as a double. So what is compared later compares equal. What would become something else is refused: nobody would be told.
func asStored(raw []byte) ([]byte, error) {
	if err := v1alpha1.CheckJSON(raw); err != nil {
		return nil, err
	}
	canonical, err := v1alpha1.CanonicalJSON(raw)
	if err != nil {
		return nil, err
	}
	var stored map[string]any
	if err := utiljson.Unmarshal(canonical, &stored); err != nil || stored == nil {
		return nil, errors.New("must be a JSON object")
	}
	var written any
	decoder := json.NewDecoder(bytes.NewReader(canonical))
	decoder.UseNumber()
	if err := decoder.Decode(&written); err != nil {
		return nil, err
	}
	if err := sameNumbers(written, stored, ""); err != nil {
		return nil, err
	}
	return json.Marshal(stored)
}

func sameNumbers(written, stored any, path string) error {
	switch value := written.(type) {
	case map[string]any:
		object, _ := stored.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if err := sameNumbers(value[name], object[name], strings.TrimPrefix(path+"."+name, ".")); err != nil {
				return err
			}
		}
	case []any:
		list, _ := stored.([]any)
		for i := range value {
			if err := sameNumbers(value[i], list[i], fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case json.Number:
		return sameNumber(value, stored, path)
	}
	return nil
}

func sameNumber(written json.Number, stored any, path string) error {
	raw, err := json.Marshal(stored)
	if err != nil {
		return err
	}
	// An exponent could make a number of any length of a short text.
	if len(written) > 400 || strings.ContainsAny(string(written), "eE") {
		if number, err := written.Float64(); err == nil && stored == number {
			return nil
		}
	} else if before, ok := new(big.Rat).SetString(string(written)); ok {
		if after, ok := new(big.Rat).SetString(string(raw)); ok && before.Cmp(after) == 0 {
			return nil
		}
	}
	return fmt.Errorf("%s: the number %s would be stored as %s: write it as a string", path, written, raw)
}
