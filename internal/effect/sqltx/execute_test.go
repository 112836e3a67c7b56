package sqltx

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
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
			tx, err := w.db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.ExecContext(t.Context(), insert); err != nil {
				t.Fatal(err)
			}
			one.timeout = 2 * time.Second
			is(t, w.verified(one, effecttest.NewAttempt(1)), inProgress, false, "still open")
			if err := end.how(tx.Commit, tx.Rollback); err != nil {
				t.Fatal(err)
			}
			one.timeout = 10 * time.Second
			is(t, w.verified(one, effecttest.NewAttempt(1)), end.want, false, "")
		}
	})
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

func TestADeadlockVictim(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.must("CREATE TABLE ballast (n integer)")
		rival, err := w.db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rival.Rollback() }()
		// Whom the server ends: in PostgreSQL who looks first, in MariaDB who has changed less.
		heavy := "INSERT INTO ballast VALUES (1)" + strings.Repeat(", (1)", 500)
		if w.dialect == v1alpha1.PostgreSQL {
			heavy = "SET LOCAL deadlock_timeout = '10min'"
		}
		for _, text := range []string{heavy, "UPDATE orders SET status = 'B' WHERE id = 2"} {
			if _, err := rival.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		one := w.compile(also("UPDATE orders SET status = 'A' WHERE id = 1"), also("UPDATE orders SET status = 'A' WHERE id = 2"))
		outcomes := make(chan effect.Outcome, 1)
		go func() { outcomes <- w.executed(one, effecttest.NewAttempt(1)) }()
		w.blocked("orders", 1)
		if _, err := rival.ExecContext(t.Context(), "UPDATE orders SET status = 'B' WHERE id = 1"); err != nil {
			t.Fatal(err)
		}
		is(t, <-outcomes, notApplied, false, "deadlock")
		if err := rival.Commit(); err != nil {
			t.Fatal(err)
		}
		is(t, w.executed(one, effecttest.NewAttempt(2)), applied, false, "")
		if w.awards() != 1 {
			t.Errorf("%d awards", w.awards())
		}
	})
}

func TestASerializationFailure(t *testing.T) {
	w := newWorld(t, v1alpha1.PostgreSQL)
	w.dsn += "&default_transaction_isolation=serializable"
	rival, err := w.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rival.Rollback() }()
	if _, err := rival.ExecContext(t.Context(), "UPDATE orders SET status = 'B' WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	one := w.compile(also("UPDATE orders SET status = 'A' WHERE id = 1"))
	outcomes := make(chan effect.Outcome, 1)
	go func() { outcomes <- w.executed(one, effecttest.NewAttempt(1)) }()
	eventually(t, "the attempt waits for the row", func() bool {
		return w.number("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0
	})
	if err := rival.Commit(); err != nil {
		t.Fatal(err)
	}
	is(t, <-outcomes, notApplied, false, "40001")
	is(t, w.executed(one, effecttest.NewAttempt(2)), applied, false, "")
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

// TestWhatIsCancelledBeforeCommit: nothing was committed, for certain.
func TestWhatIsCancelledBeforeCommit(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		rival, err := w.db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rival.Rollback() }()
		if _, err := rival.ExecContext(t.Context(), "UPDATE orders SET status = 'B' WHERE id = 2"); err != nil {
			t.Fatal(err)
		}
		one := w.compile(also("UPDATE orders SET status = 'A' WHERE id = 1"), also("UPDATE orders SET status = 'A' WHERE id = 2"))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		outcomes := make(chan effect.Outcome, 1)
		go func() { outcomes <- w.checked(one.Execute(ctx, effecttest.NewAttempt(1))) }()
		w.blocked("orders", 1)
		cancel()
		is(t, <-outcomes, notApplied, false, "cancelled")
	})
}

// TestTheClockIsReadRightBeforeCommit: hazard 5.
func TestTheClockIsReadRightBeforeCommit(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		attempt, asked := effecttest.NewAttempt(1), 0
		w.databases.now = func() time.Time {
			if asked++; asked > 2 { // before BEGIN, and for its limits
				return attempt.Deadline
			}
			return time.Now()
		}
		is(t, w.executed(w.compile(), attempt), notApplied, false, "before COMMIT")
		if w.awards() != 0 || asked != 3 {
			t.Errorf("%d awards; the clock was read %d times", w.awards(), asked)
		}
	})
}

func TestTwoOperatorsOnOneKey(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		other := w.operator()
		t.Cleanup(other.Close)
		one, two := w.compile(returning("SELECT count(*) AS n FROM awards")), w.compileFor(other, returning("SELECT count(*) AS n FROM awards"))
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				outcome := w.executed([]*transaction{one, two}[i%2], effecttest.NewAttempt(int32(i+1)))
				if outcome.Kind != applied || string(outcome.Result) != `{"n":1}` {
					t.Errorf("got %+v", outcome)
				}
			})
		}
		all.Wait()
		if w.awards() != 1 || w.ledger() != 1 {
			t.Errorf("%d awards and %d rows in the ledger", w.awards(), w.ledger())
		}
	})
}

func TestWhatTheLedgerKnowsAlready(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		one := w.compile()
		is(t, w.executed(one, effecttest.NewAttempt(1)), applied, false, "")
		other := effecttest.NewAttempt(1)
		other.PayloadDigest = "sha256:other"
		is(t, w.executed(one, other), notApplied, true, "this key with other parameters")
		is(t, w.verified(one, other), notApplied, true, "this key with other parameters")
		rival := effecttest.NewAttempt(1)
		rival.DownstreamKey = "shop/award-43"
		is(t, w.executed(one, rival), notApplied, true, "under the key shop/award-42")
		rival.Scope = "east"
		is(t, w.executed(one, rival), applied, false, "")
		if w.number("SELECT count(*) FROM taskonce_ledger WHERE biz_type = 'east/shop/award-points' AND biz_id = '42/stu-7'") != 1 {
			t.Error("the row does not say what the business key is unique within")
		}
	})
}

// TestATombstone: what a person confirmed as not applied is not applied any more, until a Retry makes a later attempt.
func TestATombstone(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.must("INSERT INTO taskonce_ledger (idem_key, biz_type, payload_digest, status, attempt) VALUES ('shop/award-42', 'shop/award-points', '', 'forbidden', 2)")
		one := w.compile()
		is(t, w.executed(one, effecttest.NewAttempt(2)), notApplied, true, "attempt 2 and those before it")
		is(t, w.verified(one, effecttest.NewAttempt(2)), notApplied, true, "attempt 2")
		is(t, w.executed(one, effecttest.NewAttempt(3)), applied, false, "")
		if w.awards() != 1 || w.number("SELECT count(*) FROM taskonce_ledger WHERE status = 'applied' AND attempt = 3 AND biz_id = '42/stu-7'") != 1 {
			t.Error("the row is not that of attempt 3")
		}
		w.must("UPDATE taskonce_ledger SET status = 'forbidden', attempt = 9, expires_at = '2001-01-01 00:00:00'")
		is(t, w.executed(one, effecttest.NewAttempt(1)), applied, false, "")
	})
}

func TestTheLedgerIsMissing(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.must("DROP TABLE taskonce_ledger")
		_, err := w.compile().Execute(t.Context(), effecttest.NewAttempt(1))
		missingWith(t, err, "create it, as docs/effects/sql.md says")
		is(t, w.verified(w.compile(), effecttest.NewAttempt(1)), unknown, false, "taskonce_ledger")
		if w.awards() != 0 {
			t.Error("something was committed")
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { is(t, w.executed(w.compile(creating), effecttest.NewAttempt(1)), applied, false, "") })
		}
		all.Wait()
		if w.awards() != 1 {
			t.Errorf("%d awards", w.awards())
		}
	})
}

func TestDSNsThatDoNotWork(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		port := w.proxy.Port
		for reason, c := range map[string]struct{ dsn, word string }{
			"a wrong password": {w.server.DSNFor(dbserver.User, "mistaken-identity", w.name, port), "correct the DSN in the Secret"},
			"no such user":     {w.server.DSNFor("nobody", "mistaken-identity", w.name, port), "correct the DSN in the Secret"},
			"no such database": {w.server.DSNFor(dbserver.User, dbserver.Password, "nowhere", port), "nowhere"},
			"no DSN":           {"mistaken-identity", "is not the DSN of a"},
			"an address":       {"https://mistaken-identity/", "is not the DSN of a"},
			"nothing":          {"", "is not the DSN of a"},
		} {
			w.dsn = c.dsn
			_, err := w.compile().Execute(t.Context(), effecttest.NewAttempt(1))
			missingWith(t, err, c.word)
			if _, err := w.compile().Verify(t.Context(), effecttest.NewAttempt(1)); err == nil {
				t.Errorf("%s: it could be asked", reason)
			}
			if err != nil && (strings.Contains(err.Error(), "mistaken-identity") || strings.Contains(err.Error(), dbserver.Password)) {
				t.Errorf("%s: it tells a secret: %v", reason, err)
			}
		}
	})
}

func TestArgumentsAreValuesAndNeverText(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.must("CREATE TABLE kept (word varchar(200), n bigint, big bigint, d double precision, flag integer, nothing integer, list varchar(200))")
		marks := make([]string, 7)
		for i := range marks {
			marks[i] = mark(w.dialect, i+1)
		}
		one := w.compile(only("INSERT INTO kept VALUES ("+strings.Join(marks, ", ")+")",
			"${params.word}", "${params.n}", "${params.big}", "${params.d}", "${params.flag ? 1 : 0}", "${params.nothing}", "${params.list}"))
		attempt := effecttest.NewAttempt(1)
		attempt.Parameters = json.RawMessage(`{"word": "'); DROP TABLE orders; --", "n": 42, "big": 9007199254740993, "d": 0.5, "flag": true, "nothing": null, "list": [1, "a"]}`)
		is(t, w.executed(one, attempt), applied, false, "")
		if w.number(`SELECT count(*) FROM kept WHERE word = '''); DROP TABLE orders; --' AND n = 42 AND big = 9007199254740993 AND d = 0.5 AND flag = 1 AND nothing IS NULL AND list = '[1,"a"]'`) != 1 ||
			w.number("SELECT count(*) FROM orders") != 2 {
			t.Error("the values did not arrive")
		}
		attempt.Parameters, attempt.DownstreamKey, attempt.BusinessKey = json.RawMessage(`{}`), "shop/other", "other"
		is(t, w.executed(one, attempt), notApplied, true, "statement 1: argument 1 cannot be made")
	})
}

func TestResultsAreJSON(t *testing.T) {
	for dialect, c := range map[v1alpha1.SQLDialect]struct{ query, want string }{
		v1alpha1.PostgreSQL: {
			`SELECT NULL AS nothing, 7::int8 AS n, 9007199254740993 AS big, 1.50::numeric AS price, 0.25::float8 AS half, 'NaN'::float8 AS nan, false AS no,
				'\x00ff'::bytea AS raw, '2026-11-30 10:00:00.5+02'::timestamptz AS at, 'infinity'::timestamptz AS never, '2026-11-30 10:00:00'::timestamp AS local,
				'2026-11-30'::date AS day, '{"a": [1, null]}'::jsonb AS doc, ARRAY[1, 2] AS list, '11111111-2222-3333-4444-555555555555'::uuid AS id, '<é>' AS word`,
			`{"at":"2026-11-30T08:00:00.5Z","big":9007199254740993,"day":"2026-11-30","doc":{"a":[1,null]},"half":0.25,"id":"11111111-2222-3333-4444-555555555555",` +
				`"list":"{1,2}","local":"2026-11-30T10:00:00","n":7,"nan":"NaN","never":"infinity","no":false,"nothing":null,"price":"1.50","raw":"AP8=","word":"<é>"}`,
		},
		v1alpha1.MySQL: {
			`SELECT NULL AS nothing, 7 AS n, 9007199254740993 AS big, CAST(1.50 AS DECIMAL(9,2)) AS price, CAST(0.25 AS DOUBLE) AS half, false AS no,
				X'00FF' AS raw, CAST('2026-11-30 10:00:00.5' AS DATETIME(1)) AS local, CAST('2026-11-30' AS DATE) AS day, FROM_UNIXTIME(0) AS epoch, '<é>' AS word`,
			`{"big":9007199254740993,"day":"2026-11-30","epoch":"1970-01-01T00:00:00","half":0.25,"local":"2026-11-30T10:00:00.5","n":7,"no":0,"nothing":null,` +
				`"price":"1.50","raw":"AP8=","word":"<é>"}`,
		},
	} {
		t.Run(string(dialect), func(t *testing.T) {
			w := newWorld(t, dialect)
			outcome := w.executed(w.compile(returning(c.query)), effecttest.NewAttempt(1))
			if canonical, err := v1alpha1.CanonicalJSON([]byte(c.want)); err != nil || string(outcome.Result) != string(canonical) {
				t.Errorf("got  %s\nwant %s (%v)", outcome.Result, canonical, err)
			}
		})
	}
}

// TestALargeResultIsWholeInTheLedger: the note that stands in for it is the same whenever it is asked for.
func TestALargeResultIsWholeInTheLedger(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		for size, kept := range map[string]bool{"20000": true, "1100000": false} {
			w.must("DELETE FROM taskonce_ledger")
			one := w.compile(returning("SELECT repeat('x', " + size + ") AS x"))
			first, second := w.executed(one, effecttest.NewAttempt(1)), w.verified(one, effecttest.NewAttempt(1))
			if string(first.Result) != string(second.Result) || first.ResultDigest != second.ResultDigest || !strings.Contains(string(first.Result), "too large") {
				t.Errorf("got %s, then %s", first.Result, second.Result)
			}
			if whole := w.number("SELECT length(result_json) FROM taskonce_ledger") > 16<<10; whole != kept {
				t.Errorf("of %s bytes the ledger holds all: %t", size, whole)
			}
		}
	})
}

func TestPoolsAreBoundedAndClosedWhenIdle(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.databases.options.MaxConnections, w.databases.options.IdleAfter = 1, 50*time.Millisecond
		one := w.compile()
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				attempt := effecttest.NewAttempt(1)
				attempt.DownstreamKey += strings.Repeat("x", i+1)
				attempt.BusinessKey = ""
				is(t, w.executed(one, attempt), applied, false, "")
			})
		}
		all.Wait()
		if most := w.proxy.Connections(); most != 1 {
			t.Errorf("there were %d connections at once", most)
		}
		eventually(t, "the pool is closed", func() bool {
			w.databases.mu.Lock()
			defer w.databases.mu.Unlock()
			return len(w.databases.pools) == 0
		})
		eventually(t, "the connections are closed", func() bool { return w.proxy.Open() == 0 })
	})
}
