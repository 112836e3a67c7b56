package main

import (
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

const templateName = "award-points"

// templateSpec is the sample of that name without its business key: the straight path with the fewest writes. It has
// no defaults, which are the API server's to add; the time-out is one that no slow machine meets.
const templateSpec = `{
	"parametersSchema": {"openAPIV3Schema": {
		"type": "object",
		"required": ["taskId", "studentId", "submitVersion", "points"],
		"properties": {
			"taskId": {"type": "integer", "minimum": 1},
			"studentId": {"type": "string", "minLength": 1, "maxLength": 64},
			"submitVersion": {"type": "integer", "minimum": 1},
			"points": {"type": "integer", "minimum": 1, "maximum": 1000}
		}
	}},
	"effect": {"http": {"method": "POST", "url": %q, "timeout": %q}}
}`

// kind is what a template has beyond that.
type kind struct {
	path    string         // of the receiver; empty: /points, which answers at once
	timeout string         // of an attempt; empty: 1m
	spec    map[string]any // fields that are added
	// replaySafe says that the receiver honours the key.
	replaySafe bool
}

func (w *world) template(namespace string, k kind) (*unstructured.Unstructured, error) {
	if k.path == "" {
		k.path = "/points"
	}
	if k.timeout == "" {
		k.timeout = "1m"
	}
	var spec map[string]any
	if err := json.Unmarshal(fmt.Appendf(nil, templateSpec, w.receiver.url+k.path, k.timeout), &spec); err != nil {
		return nil, err
	}
	maps.Copy(spec, k.spec)
	if k.replaySafe {
		err := unstructured.SetNestedMap(spec, map[string]any{"idempotent": true, "remembersFor": "24h"}, "effect", "http", "receiver")
		if err != nil {
			return nil, err
		}
	}
	template := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	template.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("TaskTemplate"))
	template.SetNamespace(namespace)
	template.SetName(templateName)
	return template, nil
}
