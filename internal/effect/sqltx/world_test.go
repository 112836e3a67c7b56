package sqltx

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/internal/expr"
	"github.com/taskonce/taskonce/test/dbserver"
)

// servers are one server of each kind for all tests but those that end it. A missing one fails them.
var servers = map[v1alpha1.SQLDialect]func() (*dbserver.Server, error){
	v1alpha1.PostgreSQL: started(v1alpha1.PostgreSQL),
	v1alpha1.MySQL:      started(v1alpha1.MySQL),
}

var running []*dbserver.Server

func started(dialect v1alpha1.SQLDialect) func() (*dbserver.Server, error) {
	return sync.OnceValues(func() (*dbserver.Server, error) {
		server, err := dbserver.Start(context.Background(), dialect)
		if err == nil {
			running = append(running, server)
		}
		return server, err
	})
}

func TestMain(m *testing.M) {
	if dsn := os.Getenv(childDSN); dsn != "" {
		child(dsn)
		return
	}
	code := m.Run()
	for _, server := range running {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// both runs a test against each dialect.
func both(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	for _, dialect := range []v1alpha1.SQLDialect{v1alpha1.PostgreSQL, v1alpha1.MySQL} {
		t.Run(string(dialect), func(t *testing.T) { test(t, newWorld(t, dialect)) })
	}
}

// world is a database with the ledger and a table of awards, and an operator that uses it through a proxy.
type world struct {
	t         *testing.T
	dialect   v1alpha1.SQLDialect
	server    *dbserver.Server
	name      string
	db        *sql.DB
	proxy     *dbserver.Proxy
	databases *Databases
	// dsn is what the Secret holds.
	dsn string
}

var worlds atomic.Int32

func newWorld(t *testing.T, dialect v1alpha1.SQLDialect) *world {
	t.Helper()
	server, err := servers[dialect]()
	if err != nil {
		t.Fatal(err)
	}
	return worldOn(t, server)
}

func worldOn(t *testing.T, server *dbserver.Server) *world {
	t.Helper()
	w := &world{t: t, dialect: server.Dialect, server: server, name: fmt.Sprintf("shop%d", worlds.Add(1))}
	if err := server.Exec(t.Context(), "", "CREATE DATABASE "+w.name); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.db, err = server.Open(w.name); err != nil {
		t.Fatal(err)
	}
	w.db.SetMaxIdleConns(0) // a server that is killed leaves none behind
	if w.proxy, err = dbserver.NewProxy(server); err != nil {
		t.Fatal(err)
	}
	w.dsn = server.DSN(w.name, w.proxy.Port)
	w.databases = w.operator()
	w.must(dialects[w.dialect].text.create, "CREATE TABLE awards (task integer, student varchar(40))",
		"CREATE TABLE orders (id integer PRIMARY KEY, status varchar(40))", "INSERT INTO orders VALUES (1, 'WAIT_PAY'), (2, 'WAIT_PAY')")
	t.Cleanup(func() { w.databases.Close(); w.proxy.Close(); _ = w.db.Close() })
	return w
}

// operator returns the databases of one more operator.
func (w *world) operator() *Databases {
	return New(Options{Secret: func(_ context.Context, namespace, name string) (map[string][]byte, error) {
		if namespace != "shop" || name != "shop-db" {
			return nil, effect.Missing("the Secret %q does not exist", name)
		}
		return map[string][]byte{"dsn": []byte(w.dsn)}, nil
	}})
}

func (w *world) must(statements ...string) {
	w.t.Helper()
	for _, statement := range statements {
		if _, err := w.db.ExecContext(w.t.Context(), statement); err != nil {
			w.t.Fatalf("%s: %v", statement, err)
		}
	}
}

// number returns what a query says.
func (w *world) number(query string, args ...any) int {
	w.t.Helper()
	var n int
	if err := w.db.QueryRowContext(context.Background(), query, args...).Scan(&n); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	return n
}

func (w *world) awards() int { w.t.Helper(); return w.number("SELECT count(*) FROM awards") }
func (w *world) ledger() int { w.t.Helper(); return w.number("SELECT count(*) FROM taskonce_ledger") }

// mark returns the n-th placeholder.
func mark(dialect v1alpha1.SQLDialect, n int) string {
	if dialect == v1alpha1.PostgreSQL {
		return fmt.Sprintf("$%d", n)
	}
	return "?"
}

type change func(*v1alpha1.SQLEffect)

// spec inserts an award.
func spec(dialect v1alpha1.SQLDialect, changes ...change) *v1alpha1.TaskTemplateSpec {
	made := &v1alpha1.SQLEffect{
		Dialect: dialect, DSN: v1alpha1.ValueSource{SecretKeyRef: v1alpha1.SecretKeyRef{Name: "shop-db", Key: "dsn"}},
	}
	also("INSERT INTO awards (task, student) VALUES ("+mark(dialect, 1)+", "+mark(dialect, 2)+")", "${params.id}", "${submission.name}")(made)
	for _, change := range changes {
		change(made)
	}
	return &v1alpha1.TaskTemplateSpec{Effect: v1alpha1.Effect{SQL: made}}
}

func also(text string, args ...string) change {
	return func(s *v1alpha1.SQLEffect) {
		s.Statements = append(s.Statements, v1alpha1.SQLStatement{SQLQuery: v1alpha1.SQLQuery{SQL: text, Args: args}})
	}
}

// only is the one statement.
func only(text string, args ...string) change {
	return func(s *v1alpha1.SQLEffect) { s.Statements = nil; also(text, args...)(s) }
}

// expecting speaks of the last statement.
func expecting(count int64) change {
	return func(s *v1alpha1.SQLEffect) { s.Statements[len(s.Statements)-1].ExpectRows = &count }
}

func returning(text string, args ...string) change {
	return func(s *v1alpha1.SQLEffect) { s.Result = &v1alpha1.SQLQuery{SQL: text, Args: args} }
}

func creating(s *v1alpha1.SQLEffect) { s.CreateLedger = true }

func (w *world) compile(changes ...change) *transaction { return w.compileFor(w.databases, changes...) }

func (w *world) compileFor(databases *Databases, changes ...change) *transaction {
	w.t.Helper()
	env, err := expr.NewEnv(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	made, _, faults := databases.Compile("shop", spec(w.dialect, changes...), env)
	if len(faults) > 0 {
		w.t.Fatal(faults.ToAggregate())
	}
	return made.(*transaction)
}

// executed runs an attempt that must end without an error.
func (w *world) executed(one *transaction, attempt effect.Attempt) effect.Outcome {
	w.t.Helper()
	return w.checked(one.Execute(w.t.Context(), attempt))
}

func (w *world) verified(one *transaction, attempt effect.Attempt) effect.Outcome {
	w.t.Helper()
	return w.checked(one.Verify(w.t.Context(), attempt))
}

func (w *world) checked(outcome effect.Outcome, err error) effect.Outcome {
	w.t.Helper()
	if err == nil {
		err = effecttest.Check(outcome)
	}
	if err != nil {
		w.t.Errorf("got %+v and the error %v", outcome, err)
	}
	return outcome
}

// is fails the test where an outcome is another one, or does not say a word.
func is(t *testing.T, outcome effect.Outcome, kind v1alpha1.Outcome, permanent bool, word string) {
	t.Helper()
	if outcome.Kind != kind || outcome.Permanent != permanent || !strings.Contains(strings.ToLower(outcome.Message), strings.ToLower(word)) {
		t.Errorf("got %+v, want %s, permanent %t, with %q", outcome, kind, permanent, word)
	}
}

// missing fails the test where the error is not that something is missing, or does not say a word.
func missingWith(t *testing.T, err error, word string) {
	t.Helper()
	var dependency *effect.DependencyError
	if !errors.As(err, &dependency) || !strings.Contains(err.Error(), word) {
		t.Errorf("got %v, want that something is missing, with %q", err, word)
	}
}

// eventually asks until it is so, or the test's time is over.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(90 * time.Second)
	for !so() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it never came to this: %s", what)
		}
	}
}

// blocked waits until the row is locked by a transaction that is not the test's.
func (w *world) blocked(table string, id int) {
	w.t.Helper()
	eventually(w.t, "a transaction holds the row", func() bool {
		_, err := w.db.ExecContext(w.t.Context(), fmt.Sprintf("SELECT * FROM %s WHERE id = %d FOR UPDATE NOWAIT", table, id))
		return err != nil
	})
}
