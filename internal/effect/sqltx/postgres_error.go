package sqltx

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
)

var (
	// postgresMissing: wrong user, password or database.
	postgresMissing = []string{"28P01", "28000", "3D000"}
	// postgresWaited: lock_timeout and statement_timeout.
	postgresWaited = []string{"55P03", "57014"}
	// postgresPassing: rights, read-only servers, and the classes of what is not the statement's fault: connections,
	// resources, operators, the system, serialization, transactions that had failed.
	postgresPassing        = []string{"42501", "25006"}
	postgresPassingClasses = []string{"08", "25", "40", "53", "55", "57", "58", "F0", "XX"}
)

const postgresNoTable = "42P01"

// refusedByPostgres: an ERROR of the server ends the transaction without it; FATAL and PANIC end the connection, and
// may come after the commit. 40003 says itself that nothing is known.
func refusedByPostgres(err error) bool {
	var said *pgconn.PgError
	if errors.Is(err, errRolledBack) {
		return true
	}
	return errors.As(err, &said) && said.SeverityUnlocalized == "ERROR" && said.Code != "40003" && said.Code[:2] != "08" && said.Code[:2] != "XX"
}

// explainPostgres goes by SQLSTATE (PostgreSQL documentation, appendix A). Detail is left out: it quotes rows.
func explainPostgres(err error) fault {
	var said *pgconn.PgError
	if !errors.As(err, &said) {
		return fault{passing, unreachable(err)}
	}
	sentence := fmt.Sprintf("the database says %q (SQLSTATE %s)", said.Message, said.Code)
	switch {
	case slices.Contains(postgresMissing, said.Code):
		return fault{missing, sentence}
	case said.Code == postgresNoTable:
		return fault{noTable, sentence}
	case slices.Contains(postgresWaited, said.Code):
		return fault{waited, sentence}
	case slices.Contains(postgresPassing, said.Code), slices.Contains(postgresPassingClasses, said.Code[:2]):
		return fault{passing, sentence}
	default:
		return fault{lasting, sentence}
	}
}
