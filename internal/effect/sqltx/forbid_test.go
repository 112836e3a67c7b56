package sqltx

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/test/dbserver"
)

func (w *world) forbidden(one *transaction, attempt effect.Attempt) effect.Outcome {
	w.t.Helper()
	return w.checked(one.Forbid(w.t.Context(), attempt))
}

// paused is a session that stands still before its first statement after BEGIN, as that of a process that was stopped.
type paused struct {
	session
	once            sync.Once
	reached, resume chan struct{}
}

func (p *paused) run(ctx context.Context, statement string, args []any) (int64, error) {
	p.once.Do(func() { close(p.reached); <-p.resume })
	return p.session.run(ctx, statement, args)
}

// TestASessionThatIsOpenWhenItIsForbidden: it goes on afterwards, and cannot commit.
func TestASessionThatIsOpenWhenItIsForbidden(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		one := w.compile()
		open, err := one.open(t.Context(), effecttest.NewAttempt(1))
		if err != nil {
			t.Fatal(err)
		}
		defer open.session.release()
		args, err := one.arguments(open.attempt)
		if err != nil {
			t.Fatal(err)
		}
		stopped := &paused{session: open.session, reached: make(chan struct{}), resume: make(chan struct{})}
		open.session = stopped
		outcomes := make(chan effect.Outcome, 1)
		go func() { outcomes <- w.checked(open.execute(t.Context(), args)) }()
		<-stopped.reached
		is(t, w.forbidden(one, effecttest.NewAttempt(1)), notApplied, false, "refuses attempt 1")
		close(stopped.resume)
		is(t, <-outcomes, notApplied, true, "must not be applied now")
		if w.awards() != 0 || w.number("SELECT count(*) FROM taskonce_ledger WHERE status = 'forbidden' AND attempt = 1") != 1 {
			t.Error("it was committed, or there is no tombstone")
		}
		is(t, w.executed(one, effecttest.NewAttempt(2)), applied, false, "")
		is(t, w.forbidden(one, effecttest.NewAttempt(2)), applied, false, "")
		if w.awards() != 1 {
			t.Errorf("%d awards", w.awards())
		}
	})
}

// TestForbidWaitsForASessionThatHoldsTheKey: it may still commit, or not, and what it does is what is so.
func TestForbidWaitsForASessionThatHoldsTheKey(t *testing.T) {
	insert := "INSERT INTO taskonce_ledger (idem_key, biz_type, payload_digest, status, attempt, result_json) VALUES ('shop/award-42', 't', '" + effecttest.NewAttempt(1).PayloadDigest + `', 'applied', 1, '{"n":7}')`
	both(t, func(t *testing.T, w *world) {
		one := w.compile()
		one.timeout = 2 * time.Second
		forbid := func() effect.Outcome { return w.forbidden(one, effecttest.NewAttempt(1)) }
		tx := w.rival(insert)
		stillOpen(t, forbid)
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		tx = w.rival(insert)
		stillOpen(t, forbid)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		one.timeout = defaultTimeout
		outcome := forbid()
		is(t, outcome, applied, false, "")
		if string(outcome.Result) != `{"n":7}` || w.ledger() != 1 {
			t.Errorf("got the result %s, and the ledger has %d rows", outcome.Result, w.ledger())
		}
	})
}

func TestWhatForbidFinds(t *testing.T) {
	row := func(status, attempt, expires string) string {
		return "INSERT INTO taskonce_ledger (idem_key, biz_type, payload_digest, status, attempt, expires_at) VALUES ('shop/award-42', 't', 'sha256:other', '" + status + "', " + attempt + ", " + expires + ")"
	}
	for _, c := range []struct {
		reason, given, word, left string
	}{
		{"an older tombstone, which speaks of later attempts then", row("forbidden", "1", "NULL"), "attempt 3", "attempt = 3"},
		{"a tombstone of a later attempt, which stays", row("forbidden", "5", "NULL"), "attempt 3", "attempt = 5"},
		{"a tombstone that has ended", row("forbidden", "5", "'2001-01-01 00:00:00'"), "attempt 3", "expires_at IS NULL"},
		{"the row of another action, which keeps these attempts out", row("applied", "1", "NULL"), "with other parameters", "status = 'applied'"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			both(t, func(t *testing.T, w *world) {
				w.must(c.given)
				one := w.compile()
				is(t, w.forbidden(one, effecttest.NewAttempt(3)), notApplied, false, c.word)
				if w.number("SELECT count(*) FROM taskonce_ledger WHERE "+c.left) != 1 {
					t.Errorf("there is no row with %s", c.left)
				}
				is(t, w.executed(one, effecttest.NewAttempt(3)), notApplied, true, "")
				if w.awards() != 0 {
					t.Error("it was committed")
				}
			})
		})
	}
}

func TestForbidWithoutALedger(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.must("DROP TABLE taskonce_ledger")
		is(t, w.forbidden(w.compile(), effecttest.NewAttempt(1)), unknown, false, "taskonce_ledger")
		is(t, w.forbidden(w.compile(creating), effecttest.NewAttempt(1)), notApplied, false, "refuses attempt 1")
		is(t, w.executed(w.compile(), effecttest.NewAttempt(1)), notApplied, true, "must not be applied")
	})
}

// TestATombstoneWhoseCommitIsLost: the next try puts it there, or finds it.
func TestATombstoneWhoseCommitIsLost(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		one := w.compile()
		for _, lose := range []dbserver.Loss{dbserver.LoseCommit, dbserver.LoseAnswer} {
			w.proxy.Lose(lose)
			is(t, w.forbidden(one, effecttest.NewAttempt(1)), unknown, false, "the ledger could not be asked")
		}
		w.proxy.Lose(dbserver.LoseNothing)
		is(t, w.forbidden(one, effecttest.NewAttempt(1)), notApplied, false, "")
		if w.ledger() != 1 {
			t.Errorf("the ledger has %d rows", w.ledger())
		}
	})
}

func TestALedgerThatIsAnotherTable(t *testing.T) {
	const known = "INSERT INTO taskonce_ledger (idem_key, biz_type, payload_digest, status, attempt) VALUES ('shop/award-42', 't', 'x', 'applied', 'first')"
	for _, c := range []struct {
		reason  string
		changes []string
		word    string
	}{
		{"a column is missing", []string{"ALTER TABLE taskonce_ledger DROP COLUMN attempt"}, "attempt"},
		{"a column holds text where a number should be", []string{"ALTER TABLE taskonce_ledger DROP COLUMN attempt", "ALTER TABLE taskonce_ledger ADD COLUMN attempt varchar(10) NOT NULL DEFAULT '1'", known}, "column attempt"},
		{"a column of its own wants a value", []string{"ALTER TABLE taskonce_ledger ADD COLUMN owner varchar(10) NOT NULL"}, "owner"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			both(t, func(t *testing.T, w *world) {
				w.must(c.changes...)
				one := w.compile()
				_, err := one.Execute(t.Context(), effecttest.NewAttempt(1))
				missingWith(t, err, "must be as docs/effects/sql.md has it")
				missingWith(t, err, c.word)
				is(t, w.verified(one, effecttest.NewAttempt(1)), unknown, false, c.word)
				if c.reason != "a column of its own wants a value" { // which only an insert meets
					missingWith(t, one.Prepare(t.Context(), effecttest.NewAttempt(1)), c.word)
				}
				if w.awards() != 0 {
					t.Error("something was committed")
				}
			})
		})
	}
}
