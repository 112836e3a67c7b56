package sqltx

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

// rival is a transaction of somebody else: it has executed statements, and holds their locks until it ends.
func (w *world) rival(statements ...string) *sql.Tx {
	w.t.Helper()
	tx, err := w.db.BeginTx(w.t.Context(), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = tx.Rollback() })
	for _, statement := range statements {
		if _, err := tx.ExecContext(w.t.Context(), statement); err != nil {
			w.t.Fatalf("%s: %v", statement, err)
		}
	}
	return tx
}

// waiting waits until so many sessions wait for a lock.
func (w *world) waiting(n int) {
	w.t.Helper()
	query := "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
	if w.dialect == v1alpha1.PostgreSQL {
		query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
	}
	eventually(w.t, fmt.Sprintf("%d sessions wait for a lock", n), func() bool { return w.number(query) == n })
}

// changesBoth changes the first order and then the second.
var changesBoth = []change{also("UPDATE orders SET status = 'A' WHERE id = 1"), also("UPDATE orders SET status = 'A' WHERE id = 2")}

// begin executes the first attempt, and returns at once.
func (w *world) begin(ctx context.Context, one *transaction) <-chan effect.Outcome {
	outcomes := make(chan effect.Outcome, 1)
	go func() { outcomes <- w.checked(one.Execute(ctx, effecttest.NewAttempt(1))) }()
	return outcomes
}

func TestADeadlockVictim(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.must("CREATE TABLE ballast (n integer)", "CREATE TABLE gates (n integer)", "INSERT INTO gates VALUES (1)")
		// Whom the server ends: in PostgreSQL who looks, and it looks once, in MariaDB who has changed less.
		heavy := "INSERT INTO ballast VALUES (1)" + strings.Repeat(", (1)", 500)
		if w.dialect == v1alpha1.PostgreSQL {
			heavy = "SET LOCAL deadlock_timeout = '10min'"
		}
		rival := w.rival(heavy, "UPDATE orders SET status = 'B' WHERE id = 2")
		gate := w.rival("UPDATE gates SET n = 2")
		one := w.compile(changesBoth[0], also("UPDATE gates SET n = 3"), changesBoth[1])
		outcomes := w.begin(t.Context(), one)
		w.blocked("orders", 1)
		met := make(chan error, 1)
		go func() {
			_, err := rival.ExecContext(t.Context(), "UPDATE orders SET status = 'B' WHERE id = 1")
			met <- err
		}()
		w.waiting(2) // the attempt at the gate, and the rival for the attempt: so it is the attempt that closes the circle
		if err := gate.Rollback(); err != nil {
			t.Fatal(err)
		}
		is(t, <-outcomes, notApplied, false, "deadlock")
		if err := errors.Join(<-met, rival.Commit()); err != nil {
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
	rival := w.rival("UPDATE orders SET status = 'B' WHERE id = 1")
	one := w.compile(also("UPDATE orders SET status = 'A' WHERE id = 1"))
	outcomes := w.begin(t.Context(), one)
	w.waiting(1)
	if err := rival.Commit(); err != nil {
		t.Fatal(err)
	}
	is(t, <-outcomes, notApplied, false, "40001")
	is(t, w.executed(one, effecttest.NewAttempt(2)), applied, false, "")
}

// TestWhatIsCancelledBeforeCommit: nothing was committed, for certain.
func TestWhatIsCancelledBeforeCommit(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.rival("UPDATE orders SET status = 'B' WHERE id = 2")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		outcomes := w.begin(ctx, w.compile(changesBoth...))
		w.blocked("orders", 1)
		cancel()
		is(t, <-outcomes, notApplied, false, "cancelled")
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
