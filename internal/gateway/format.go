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
		if err := json.Unmarshal(data, v); err != nil { // which says where it is no JSON
			return err
		}
		return v1alpha1.CheckJSON(data)
	},
}
