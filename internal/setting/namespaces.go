package setting

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Namespaces is a list of namespaces, with commas between them.
type Namespaces []string

var label = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// String implements flag.Value.
func (n *Namespaces) String() string { return strings.Join(*n, ",") }

// Set takes blanks around a name for none, and a name that comes twice once.
func (n *Namespaces) Set(text string) error {
	*n = nil
	if text == "" {
		return nil
	}
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); !label.MatchString(name) {
			return fmt.Errorf("%q is no name of a namespace", name)
		}
		if !slices.Contains(*n, name) {
			*n = append(*n, name)
		}
	}
	return nil
}
