// Package setting is how a process is set: by flags, and where one is left out by its environment variable.
package setting

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// ErrHelp is returned where help was asked for, and written.
var ErrHelp = flag.ErrHelp

// Parse sets flags from arguments, and those that these leave out from the environment. What is wrong comes back as one
// line; asked for help, it writes that to output and returns ErrHelp.
func Parse(flags *flag.FlagSet, arguments []string, lookup func(string) (string, bool), output io.Writer) error {
	flags.SetOutput(io.Discard)
	err := flags.Parse(arguments)
	switch {
	case errors.Is(err, flag.ErrHelp):
		usage(flags, output)
		return ErrHelp
	case err != nil:
		return fmt.Errorf("%w; --help lists the flags", err)
	case flags.NArg() > 0:
		return fmt.Errorf("there are flags only, and no argument %q", flags.Arg(0))
	}
	return fromEnvironment(flags, lookup)
}

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
	fmt.Fprintf(output, "Usage: %s [flags]\n\n", flags.Name())
	fmt.Fprintln(output, "Each flag may be given as an environment variable, too: --log-level as TASKONCE_LOG_LEVEL.")
	fmt.Fprintln(output)
	flags.SetOutput(output)
	flags.PrintDefaults()
}
