package main

import (
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// variable is the environment variable of a flag: TASKONCE_ and the flag's name in capitals, with _ for -.
func variable(name string) string {
	return "TASKONCE_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// fromEnvironment sets each flag that the arguments have left out, where its variable is there. An empty one counts, as
// an empty argument does.
func fromEnvironment(flags *flag.FlagSet, lookup func(string) (string, bool)) error {
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var first error
	flags.VisitAll(func(f *flag.Flag) {
		value, ok := lookup(variable(f.Name))
		if !ok || given[f.Name] || first != nil {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			first = fmt.Errorf("%s is %q, which --%s cannot be: %w", variable(f.Name), value, f.Name, err)
		}
	})
	return first
}

func usage(flags *flag.FlagSet, output io.Writer) {
	fmt.Fprintln(output, "Usage: manager [flags]")
	fmt.Fprintln(output, "\nEach flag may be given as an environment variable, too: --max-in-flight as TASKONCE_MAX_IN_FLIGHT.")
	fmt.Fprintln(output)
	flags.SetOutput(output)
	flags.PrintDefaults()
}

// names is a list of namespaces, with commas between them.
type names []string

var label = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

func (n *names) String() string { return strings.Join(*n, ",") }

// Set takes blanks around a name for none, and a name that comes twice once.
func (n *names) Set(text string) error {
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
