// Package ledger has the table of the SQL effect in each dialect: for the operator, and for whoever creates it by hand.
package ledger

import (
	_ "embed"
	"strings"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

var (
	//go:embed postgresql.sql
	postgreSQL string
	//go:embed mysql.sql
	mySQL string
)

// Table returns the statement that creates the table where it is missing, without a semicolon; "" where there is no such
// dialect.
func Table(dialect v1alpha1.SQLDialect) string {
	switch dialect {
	case v1alpha1.PostgreSQL:
		return strings.TrimSpace(postgreSQL)
	case v1alpha1.MySQL:
		return strings.TrimSpace(mySQL)
	default:
		return ""
	}
}
