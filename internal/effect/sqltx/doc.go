// Package sqltx is the effect of one SQL transaction in PostgreSQL, MySQL or MariaDB.
//
// The transaction first inserts a row into a ledger, under the submission's downstream key, and then runs the template's
// statements; so the row is there if and only if their changes are. The ledger's primary key makes every later attempt
// wait for one that is still open, and find the row of one that was committed: the effect happens exactly once, whoever
// is killed when.
//
// COMMIT is sent only while the attempt's deadline has not passed, and only after the row was inserted. So after the
// deadline every session that may still commit holds the row's lock, and who can insert the row himself knows that
// there is none.
package sqltx
