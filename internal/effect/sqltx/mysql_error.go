package sqltx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

const (
	mysqlDuplicate   = 1062
	mysqlNoTable     = 1146
	mysqlLockTimeout = 1205
	mysqlDeadlock    = 1213
)

var (
	// mysqlMissing: wrong user, password or database, before anything was sent.
	mysqlMissing = []uint16{1044, 1045, 1049, 1698}
	// mysqlPassing: too many connections, shutdown, rights, read-only servers, killed and timed-out statements.
	mysqlPassing = []uint16{1040, 1053, 1129, 1130, 1142, 1143, 1152, 1158, 1159, 1160, 1161, 1184, 1203, 1226, 1227, 1290, 1317, 1792, 1836, 1927, 1969, 3024, 3572, 4031, mysqlDeadlock}
	// mysqlLasting have a general SQLSTATE and are the statement's or its values' fault all the same.
	mysqlLasting = []uint16{1364, 1365, 1366, 3819, 4025}
	// mysqlRolledBack say at COMMIT that there was none.
	mysqlRolledBack = []uint16{1290, 1792, 1836, mysqlDeadlock}
)

func isMySQL(err error, numbers ...uint16) bool {
	var said *mysql.MySQLError
	return errors.As(err, &said) && slices.Contains(numbers, said.Number)
}

func refusedByMySQL(err error) bool { return isMySQL(err, mysqlRolledBack...) }

// explainMySQL goes by number, then by SQLSTATE class: 21 to 23, 42 and 45 (SIGNAL) are the statement's or its values'
// fault.
func explainMySQL(err error) fault {
	var said *mysql.MySQLError
	if !errors.As(err, &said) {
		return fault{passing, unreachable(err)}
	}
	sentence := fmt.Sprintf("the database says %q (error %d)", said.Message, said.Number)
	switch {
	case slices.Contains(mysqlMissing, said.Number):
		return fault{missing, sentence}
	case said.Number == mysqlNoTable:
		return fault{noTable, sentence}
	case said.Number == mysqlLockTimeout:
		return fault{waited, sentence}
	case slices.Contains(mysqlPassing, said.Number):
		return fault{passing, sentence}
	case slices.Contains(mysqlLasting, said.Number), slices.Contains([]string{"21", "22", "23", "42", "45"}, strings.ToUpper(string(said.SQLState[:2]))):
		return fault{lasting, sentence}
	default:
		return fault{passing, sentence}
	}
}
