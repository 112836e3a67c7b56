package cli

import (
	"fmt"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// dryRun is kubectl's flag of that name.
type dryRun string

func (d *dryRun) addFlags(flags *pflag.FlagSet) {
	flags.StringVar((*string)(d), "dry-run", "none", `Must be "none", "server" or "client". With client nothing is sent; with server it is judged, and not stored.`)
	flags.Lookup("dry-run").NoOptDefVal = "unchanged"
}

func (d dryRun) check() error {
	switch d {
	case "none", "server", "client":
		return nil
	default:
		return fmt.Errorf(`invalid dry-run value (%v). Must be "none", "server", or "client"`, d)
	}
}

func (d dryRun) options() []client.CreateOption {
	if d == "server" {
		return []client.CreateOption{client.DryRunAll}
	}
	return nil
}

// suffix is what a line of output ends with.
func (d dryRun) suffix() string {
	switch d {
	case "server":
		return " (server dry run)"
	case "client":
		return " (dry run)"
	default:
		return ""
	}
}
