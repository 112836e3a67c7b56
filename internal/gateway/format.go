package gateway

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// unambiguous is JSON of which everybody reads the same.
var unambiguous = huma.Format{
	Marshal: huma.DefaultJSONFormat.Marshal,
	Unmarshal: func(data []byte, v any) error {
		if !json.Valid(data) {
			return json.Unmarshal(data, v) // whose error says where it is not
		}
		if err := v1alpha1.CheckJSON(data); err != nil {
			return err
		}
		return json.Unmarshal(data, v)
	},
}
