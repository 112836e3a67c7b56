package setting

import (
	"flag"
	"fmt"
	"strings"
)

// Table is a table of flags, for their documentation.
func Table(flags *flag.FlagSet) string {
	var text strings.Builder
	text.WriteString("| flag | default | what it says |\n| --- | --- | --- |\n")
	flags.VisitAll(func(f *flag.Flag) {
		value := f.DefValue
		if value != "" {
			value = "`" + value + "`"
		}
		fmt.Fprintf(&text, "| `--%s` | %s | %s |\n", f.Name, value, f.Usage)
	})
	return text.String()
}
