package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/ledger"
)

// dialects are the ones that a ledger can be in, as a command line writes them.
var dialects = []v1alpha1.SQLDialect{v1alpha1.PostgreSQL, v1alpha1.MySQL}

func newLedgerDDL(s *session) *cobra.Command {
	var dialect string
	command := &cobra.Command{
		Use: "ledger-ddl --dialect DIALECT", GroupID: groupLook, Args: cobra.NoArgs,
		Short: "Print the statement that creates the table of the SQL effect, without a cluster or a database",
		Long: `Print the statement that creates the table of the SQL effect where it is missing, without a cluster or a database. It is for
templates that do not say createLedger: true. The operator's user needs SELECT, INSERT and UPDATE on the table.`,
		Example: `kubectl taskonce ledger-ddl --dialect=postgresql | psql "$DSN"

# MariaDB's is that of MySQL
kubectl taskonce ledger-ddl --dialect=mysql | mariadb shop`,
		RunE: func(command *cobra.Command, _ []string) error {
			for _, known := range dialects {
				if strings.EqualFold(dialect, string(known)) {
					fmt.Fprintln(s.Out, ledger.Table(known)+";")
					return nil
				}
			}
			return usage(command, "--dialect must be postgresql, or mysql, which is MariaDB's too")
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	command.Flags().StringVar(&dialect, "dialect", "", "The database. One of: (postgresql, mysql).")
	known := []cobra.Completion{"postgresql", "mysql\tMariaDB, too"}
	_ = command.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return command
}
