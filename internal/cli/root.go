// Package cli is the kubectl plugin: one file for each command, and what they share.
package cli

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Main runs the plugin and returns its exit code, after saying what went wrong as kubectl says it.
func Main(ctx context.Context, args []string, streams genericiooptions.IOStreams, version string) int {
	log.SetLogger(logr.Discard()) // controller-runtime's client wants to be told
	root := New(streams, version)
	root.SetArgs(args)
	return report(streams.ErrOut, root.ExecuteContext(ctx))
}

const (
	groupSubmit = "submit"
	groupDecide = "decide"
	groupLook   = "look"
)

// New returns the command with all of its subcommands.
func New(streams genericiooptions.IOStreams, version string) *cobra.Command {
	s := &session{IOStreams: streams, flags: genericclioptions.NewConfigFlags(true).WithWarningPrinter(streams), now: time.Now, terminal: isTerminal}
	root := &cobra.Command{
		Use:   "kubectl-taskonce",
		Short: "Submit actions that happen once, see what became of them, and decide where only a person can tell",
		Long: `Submit actions that happen once, see what became of them, and decide where only a person can tell.

Exit codes: 0 it succeeded; 1 it could not be done (usage, connection, rights); 2 a submission is Failed: its effect
certainly did not happen; 3 unknown: whether it was submitted, or what came of it, is not known (yet); 4 refused: the
API server refused it, its key belongs to another action, or the operator refused the decision. Of several, the gravest
counts: 1, 3, 4, 2.`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl taskonce"},
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.AddGroup(
		&cobra.Group{ID: groupSubmit, Title: "Submitting:"},
		&cobra.Group{ID: groupLook, Title: "Looking:"},
		&cobra.Group{ID: groupDecide, Title: "Deciding:"},
	)
	s.flags.AddFlags(root.PersistentFlags())
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return usage(command, "%v", err)
	})
	root.AddCommand(newName(s), newSubmit(s), newWait(s), newResult(s), newExplain(s), newInbox(s), newRender(s), newLedgerDDL(s))
	for _, d := range decisions {
		root.AddCommand(newDecide(s, d))
	}
	return root
}
