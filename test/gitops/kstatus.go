package gitops

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// Kstatus returns what kstatus computes of an object of that kind.
func Kstatus(object any, kind schema.GroupVersionKind) (status.Status, error) {
	read, err := asRead(object, kind)
	if err != nil {
		return "", err
	}
	result, err := status.Compute(read)
	if err != nil {
		return "", err
	}
	return result.Status, nil
}

// asRead is an object as somebody reads it who does not know its Go type.
func asRead(object any, kind schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	read := &unstructured.Unstructured{Object: fields}
	read.SetGroupVersionKind(kind)
	return read, nil
}
