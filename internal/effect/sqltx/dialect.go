package sqltx

import (
	"context"
	"encoding/json"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// dialect is what differs between databases.
type dialect struct {
	name string
	// example shows what a DSN looks like.
	example string
	// connect makes a pool, without connecting, and returns the password. Its errors may hold parts of the DSN: they are
	// for nobody's eyes.
	connect func(dsn string, options Options) (pool database, password string, err error)
	// explain says what an error means before COMMIT was sent: the transaction was certainly rolled back.
	explain func(err error) fault
	// refused reports whether an error that COMMIT came back with says that the transaction was rolled back.
	refused func(err error) bool
	// duplicate reports whether the error is that of a unique key.
	duplicate func(err error) bool
	text      texts
	grammar   grammar
}

// texts are the statements over the ledger. Where they have arguments, those are in the order of the placeholders.
type texts struct {
	create string
	// insert: key, business type, business id, digest, status, attempt.
	insert string
	// read: key. Columns: digest, status, attempt, result, whether it has expired (1) or not (0).
	read string
	// lock is read, and keeps others from changing the row until the transaction ends.
	lock string
	// owner: business type, business id. Column: key.
	owner string
	// replace: digest, business type, business id, attempt, key. It makes a tombstone a row of its own again.
	replace string
	// extend: attempt, key. It has a tombstone speak of later attempts too.
	extend string
	// result: result, key.
	result string
}

// database is a pool of connections.
type database interface {
	open(ctx context.Context) (session, error)
	close()
}

// session is one connection, which serves one attempt.
type session interface {
	// begin opens a transaction, and has the server end by itself what waits or idles for longer than limit.
	begin(ctx context.Context, limit time.Duration) error
	// run executes one statement that is no query, and returns how many rows it matched.
	run(ctx context.Context, statement string, args []any) (int64, error)
	// query runs one statement and returns its rows, of which it keeps no more than most.
	query(ctx context.Context, statement string, args []any, most int) (*rows, error)
	// commit sends COMMIT, once. An error does not say that it did not happen.
	commit(ctx context.Context) error
	// rollback ends the transaction, if there is one.
	rollback()
	// release gives the connection back; it is closed unless it is known to be clean.
	release()
}

// rows are what a query returned, each cell as JSON.
type rows struct {
	// count is how many there were.
	count   int64
	columns []string
	cells   [][]json.RawMessage
}

// cause is what has to be done about an error.
type cause int

const (
	// passing: the same attempt may succeed later.
	passing cause = iota
	// lasting: the same statements and parameters fail again.
	lasting
	// missing: something outside the submission is not there, or not right.
	missing
	// noTable: a table is not there.
	noTable
	// waited: another session held a lock for too long.
	waited
)

// fault is an error, explained.
type fault struct {
	cause   cause
	message string
}

var dialects = map[v1alpha1.SQLDialect]*dialect{v1alpha1.PostgreSQL: postgres, v1alpha1.MySQL: mysqlDialect}
