package sqltx

import (
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/test/dbserver"
)

const (
	applied    = v1alpha1.OutcomeApplied
	notApplied = v1alpha1.OutcomeNotApplied
	unknown    = v1alpha1.OutcomeUnknown
	inProgress = v1alpha1.OutcomeInProgress
)

func TestAnAnswerToCommitThatIsLost(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		one := w.compile(returning("SELECT count(*) AS n FROM awards"))
		w.proxy.Lose(dbserver.LoseAnswer)
		is(t, w.executed(one, effecttest.NewAttempt(1)), unknown, false, "COMMIT was sent")
		w.proxy.Lose(dbserver.LoseNothing)
		verified := w.verified(one, effecttest.NewAttempt(1))
		is(t, verified, applied, false, "")
		repeated := w.executed(one, effecttest.NewAttempt(2))
		is(t, repeated, applied, false, "")
		if string(verified.Result) != `{"n":1}` || string(repeated.Result) != string(verified.Result) || repeated.ResultDigest != verified.ResultDigest {
			t.Errorf("the results differ: %s, then %s", verified.Result, repeated.Result)
		}
		if w.awards() != 1 || w.ledger() != 1 {
			t.Errorf("%d awards and %d rows in the ledger", w.awards(), w.ledger())
		}
	})
}

func TestACommitThatIsLost(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		one := w.compile()
		w.proxy.Lose(dbserver.LoseCommit)
		is(t, w.executed(one, effecttest.NewAttempt(1)), unknown, false, "")
		w.proxy.Lose(dbserver.LoseNothing)
		eventually(t, "the server has noticed", func() bool { return w.verified(one, effecttest.NewAttempt(1)).Kind != inProgress })
		is(t, w.verified(one, effecttest.NewAttempt(1)), notApplied, false, "no row")
		if w.awards() != 0 || w.ledger() != 0 {
			t.Error("asking has left something")
		}
		is(t, w.executed(one, effecttest.NewAttempt(2)), applied, false, "")
	})
}

// TestVerifyWaitsForASessionThatIsOpen: nobody can say yet what becomes of it.
func TestVerifyWaitsForASessionThatIsOpen(t *testing.T) {
	insert := "INSERT INTO taskonce_ledger (idem_key, biz_type, payload_digest, status, attempt) VALUES ('shop/award-42', 't', '" + effecttest.NewAttempt(1).PayloadDigest + "', 'applied', 1)"
	both(t, func(t *testing.T, w *world) {
		one := w.compile()
		for _, end := range []struct {
			how  func(commit, rollback func() error) error
			want v1alpha1.Outcome
		}{
			{func(_, rollback func() error) error { return rollback() }, notApplied},
			{func(commit, _ func() error) error { return commit() }, applied},
		} {
			tx := w.rival(insert)
			one.timeout = 2 * time.Second
			stillOpen(t, func() effect.Outcome { return w.verified(one, effecttest.NewAttempt(1)) })
			if err := end.how(tx.Commit, tx.Rollback); err != nil {
				t.Fatal(err)
			}
			one.timeout = defaultTimeout
			is(t, w.verified(one, effecttest.NewAttempt(1)), end.want, false, "")
		}
	})
}

// stillOpen asks until there was time enough to see that a session is open: a machine that is busy may not have come so far.
func stillOpen(t *testing.T, ask func() effect.Outcome) {
	t.Helper()
	var outcome effect.Outcome
	eventually(t, "it was asked in time", func() bool { outcome = ask(); return outcome.Kind != unknown })
	is(t, outcome, inProgress, false, "still open")
}

func TestStatementsThatFail(t *testing.T) {
	for _, c := range []struct {
		reason    string
		changes   []change
		dsn       map[v1alpha1.SQLDialect]string
		permanent bool
		word      string
	}{
		{reason: "a unique violation in a business table", changes: []change{also("INSERT INTO orders VALUES (1, 'NEW')")}, permanent: true, word: "statement 2"},
		{reason: "a state that has changed", changes: []change{also("UPDATE orders SET status = 'CLOSED' WHERE id = 1 AND status = 'PAID'"), expecting(1)},
			permanent: true, word: "statement 2 found 0 rows, and expectRows is 1"},
		{reason: "more rows than expected", changes: []change{also("UPDATE orders SET status = 'CLOSED'"), expecting(1)}, permanent: true, word: "found 2 rows"},
		{reason: "rows where none was expected", changes: []change{also("SELECT * FROM orders WHERE id = 1"), expecting(0)}, permanent: true, word: "found 1 rows"},
		{reason: "a business table that is not there", changes: []change{also("DELETE FROM nowhere")}, permanent: true, word: "nowhere"},
		{reason: "a value that the column does not take", changes: []change{also("INSERT INTO orders VALUES (NULL, 'NEW')")}, permanent: true, word: "null"},
		{reason: "a result of two rows", changes: []change{returning("SELECT id FROM orders")}, permanent: true, word: "returned 2 rows"},
		{reason: "a result with one name twice", changes: []change{returning("SELECT 1 AS a, 2 AS a")}, permanent: true, word: `two columns named "a"`},
		{reason: "a server that takes no writes", dsn: map[v1alpha1.SQLDialect]string{
			v1alpha1.PostgreSQL: "&default_transaction_read_only=on", v1alpha1.MySQL: "&tx_read_only=1",
		}, word: "read"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			both(t, func(t *testing.T, w *world) {
				w.dsn += c.dsn[w.dialect]
				is(t, w.executed(w.compile(c.changes...), effecttest.NewAttempt(1)), notApplied, c.permanent, c.word)
				if w.awards() != 0 || w.ledger() != 0 || w.number("SELECT count(*) FROM orders WHERE status = 'WAIT_PAY'") != 2 {
					t.Error("something was committed")
				}
			})
		})
	}
}

func TestExpectedRows(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		one := w.compile(
			also("SELECT * FROM orders WHERE status = 'WAIT_PAY'"), expecting(2),
			also("WITH paid AS (SELECT 1 AS id) SELECT * FROM paid"), expecting(1),
			also("UPDATE orders SET status = 'WAIT_PAY' WHERE id = 1"), expecting(1), // found, though nothing changes
			also("DELETE FROM orders WHERE id = 9"), expecting(0),
		)
		is(t, w.executed(one, effecttest.NewAttempt(1)), applied, false, "")
	})
}

// TestACommitThatIsRefused: the server's own word that there was none is believed.
func TestACommitThatIsRefused(t *testing.T) {
	w := newWorld(t, v1alpha1.PostgreSQL)
	w.must("CREATE TABLE late (id integer UNIQUE DEFERRABLE INITIALLY DEFERRED)", "INSERT INTO late VALUES (1)")
	one := w.compile(also("INSERT INTO late VALUES (1)"))
	is(t, w.executed(one, effecttest.NewAttempt(1)), notApplied, true, "at COMMIT")
	w.must("DELETE FROM late")
	is(t, w.executed(one, effecttest.NewAttempt(2)), applied, false, "")
}

// TestTheClockIsReadRightBeforeCommit: hazard 5.
func TestTheClockIsReadRightBeforeCommit(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		for name, late := range map[string]func(deadline time.Time) time.Time{
			"stopped until the deadline": func(deadline time.Time) time.Time { return deadline },
			"suspended with its machine": func(time.Time) time.Time { return effecttest.ShiftWall(time.Now(), time.Hour) },
		} {
			attempt, asked := effecttest.NewAttempt(1), 0
			w.databases.now = func() time.Time {
				if asked++; asked > 2 { // before BEGIN, and for its limits
					return late(attempt.Deadline)
				}
				return time.Now()
			}
			is(t, w.executed(w.compile(), attempt), notApplied, false, "before COMMIT")
			if w.awards() != 0 || asked != 3 {
				t.Errorf("%s: %d awards; the clock was read %d times", name, w.awards(), asked)
			}
		}
	})
}
