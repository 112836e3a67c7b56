package main

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// namespaces is a list of them, with commas between them.
type namespaces []string

func (n *namespaces) String() string { return strings.Join(*n, ",") }

// Set takes blanks around a name for none, and a name that comes twice once.
func (n *namespaces) Set(text string) error {
	*n = nil
	if text == "" {
		return nil
	}
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); len(validation.IsDNS1123Label(name)) > 0 {
			return fmt.Errorf("%q is no namespace", name)
		}
		if !slices.Contains(*n, name) {
			*n = append(*n, name)
		}
	}
	return nil
}
