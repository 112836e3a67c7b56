package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// keyNames is what belongs to a key.
type keyNames struct {
	Key    string `json:"key"`
	Name   string `json:"name"`
	Record string `json:"record"`
}

func newName(s *session) *cobra.Command {
	var parts bool
	var format string
	command := &cobra.Command{
		Use:   "name KEY | name --parts PART...",
		Short: "Say which name belongs to an idempotency key, without a cluster",
		Long: `Say which name belongs to an idempotency key, without a cluster.

With --parts the arguments are joined into a key first, so that different parts never make the same key; it is what
key(...) does in a template.`,
		Example: `# The name for a manifest
kubectl taskonce name charge:order:1001

# The key of several parts, its name, and the name of its record
kubectl taskonce name --parts charge order 1001 -o yaml`,
		GroupID: groupSubmit,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) > 1 && !parts {
				return usage(command, "there is one KEY; to join several parts into one, give --parts")
			}
			key := args[0]
			if parts {
				key = v1alpha1.Key(args...)
			}
			name, err := v1alpha1.NameForKey(key)
			if err != nil {
				return err
			}
			return printKey(s.Out, format, keyNames{Key: key, Name: name, Record: v1alpha1.RecordName(key)})
		},
	}
	command.Flags().BoolVar(&parts, "parts", false, "Join the arguments into a key.")
	command.Flags().StringVarP(&format, "output", "o", "name", "Output format. One of: (json, yaml, name).")
	return command
}

func printKey(w io.Writer, format string, names keyNames) error {
	var text []byte
	var err error
	switch format {
	case "name":
		text = []byte(names.Name + "\n")
	case "yaml":
		text, err = yaml.Marshal(names)
	case "json":
		text, err = json.MarshalIndent(names, "", "    ")
		text = append(text, '\n')
	default:
		return fmt.Errorf("unable to match a printer suitable for the output format %q, allowed formats are: json,name,yaml", format)
	}
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
