package sqltx

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/internal/expr"
)

// compiled returns the faults of a template, and what is known of one that has none.
func faultsOf(t *testing.T, spec *v1alpha1.TaskTemplateSpec) string {
	t.Helper()
	schema, err := expr.NewSchema([]byte(`{"type": "object", "properties": {"id": {"type": "integer"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	env, err := expr.NewEnv(schema)
	if err != nil {
		t.Fatal(err)
	}
	made, traits, faults := New(Options{}).Compile("shop", spec, env)
	if len(faults) > 0 {
		return faults.ToAggregate().Error()
	}
	if made == nil || !traits.ReplaySafe || !traits.Verifies || traits.Timeout <= 0 || traits.SettleAfter != 0 {
		t.Errorf("got %v with %+v", made, traits)
	}
	if until := time.Now().Add(traits.RemembersFor); until.Before(time.Now().AddDate(100, 0, 0)) {
		t.Errorf("it remembers until %v", until)
	}
	return ""
}

func TestFaultsNameTheirField(t *testing.T) {
	for _, c := range []struct {
		reason string
		change change
		words  string
	}{
		{"fine", func(*v1alpha1.SQLEffect) {}, ""},
		{"an expression in the text", also("DELETE FROM orders WHERE id = ${params.id}"), "spec.effect.sql.statements[1].sql: Invalid value: \"DELETE FROM orders WHERE id = ${params.id}\": SQL text holds no expressions"},
		{"an expression in the result's text", returning("SELECT ${params.id}"), "spec.effect.sql.result.sql"},
		{"an argument that does not compile", also("DELETE FROM orders WHERE id = $1", "${params.nope}"), "spec.effect.sql.statements[1].args[0]"},
		{"the number of the attempt", also("DELETE FROM orders WHERE id = $1", "${attempt}"), "the variables here are"},
		{"an argument too many", also("DELETE FROM orders", "1"), "has 0 placeholders, and args has 1"},
		{"COMMIT", also("commit"), "must not begin with COMMIT"},
		{"a result that changes something", returning("DELETE FROM orders RETURNING id"), "must be a query"},
		{"no such dialect", func(s *v1alpha1.SQLEffect) { s.Dialect = "Oracle" }, "spec.effect.sql.dialect"},
		{"no Secret", func(s *v1alpha1.SQLEffect) { s.DSN.SecretKeyRef.Key = "" }, "spec.effect.sql.dsn.secretKeyRef"},
		{"no statement", func(s *v1alpha1.SQLEffect) { s.Statements = nil }, "spec.effect.sql.statements"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got := faultsOf(t, spec(v1alpha1.PostgreSQL, c.change))
			if !strings.Contains(got, c.words) || (got == "") != (c.words == "") {
				t.Errorf("got %q, want %q", got, c.words)
			}
		})
	}
	with := spec(v1alpha1.MySQL)
	with.Verification = &v1alpha1.Verification{}
	if got := faultsOf(t, with); !strings.Contains(got, "spec.verification") {
		t.Errorf("got %q", got)
	}
	if got := faultsOf(t, &v1alpha1.TaskTemplateSpec{Effect: v1alpha1.Effect{HTTP: &v1alpha1.HTTPEffect{HTTPRequest: v1alpha1.HTTPRequest{Body: &apiextensionsv1.JSON{}}}}}); !strings.Contains(got, "spec.effect.sql") {
		t.Errorf("got %q", got)
	}
}

func TestGrammar(t *testing.T) {
	const p, m = v1alpha1.PostgreSQL, v1alpha1.MySQL
	for _, c := range []struct {
		dialect   v1alpha1.SQLDialect
		statement string
		args      int
		fault     string
	}{
		{p, "UPDATE a SET b = $2 WHERE c = $1 AND d = $2", 2, ""},
		{p, "/* why */ select 1; -- done", 0, ""},
		{p, "(SELECT 1) UNION (SELECT 2)", 0, ""},
		{p, "INSERT INTO a VALUES ('it''s; $1', \"b;\", $$ COMMIT; $9 $$, $x$ $$ ; $x$, E'\\'; $4')", 0, ""},
		{p, "/* a /* nested; */ one; */ DELETE FROM a WHERE b ? 'c'", 0, ""},
		{p, "CREATE TABLE a (b int)", 0, ""},
		{p, "", 0, "holds no statement"},
		{p, "-- nothing", 0, "holds no statement"},
		{p, "SELECT 1; COMMIT", 0, "more than one statement"},
		{p, `SELECT '\'; COMMIT; --'`, 0, "more than one statement"}, // the backslash is a backslash
		{p, "BEGIN", 0, "must not begin with BEGIN"},
		{p, "/**/ RollBack", 0, "must not begin with ROLLBACK"},
		{p, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", 0, "must not begin with SET"},
		{p, "COPY a FROM stdin", 0, "must not begin with COPY"},
		{p, "PREPARE TRANSACTION 'x'", 0, "must not begin with PREPARE"},
		{p, "SELECT 'open", 0, "has no end"},
		{p, "SELECT /* open", 0, "has no end"},
		{p, "SELECT $a$ open $b$", 0, "has no end"},
		{p, "SELECT $3", 1, "has 3 placeholders"},
		{m, "UPDATE a SET b = ? WHERE c = '?' AND `d?` = ? # ?", 2, ""},
		{m, `INSERT INTO a VALUES ('\'; COMMIT; --', "\"; ?")`, 0, ""},
		{m, "SELECT 5--1", 0, ""},
		{m, "SELECT 5--1; COMMIT", 0, "more than one statement"},
		{m, "SELECT 1 -- ; COMMIT", 0, ""},
		{m, "/* a /* not nested */ DELETE FROM a", 0, ""},
		{m, "CREATE TABLE a (b int)", 0, "must not begin with CREATE"},
		{m, "DROP TABLE a", 0, "must not begin with DROP"},
		{m, "TRUNCATE a", 0, "must not begin with TRUNCATE"},
		{m, "CALL pay(1)", 0, "must not begin with CALL"},
		{m, "SET autocommit = 1", 0, "must not begin with SET"},
		{m, "/*!50000 DROP TABLE a */", 0, "a comment that is executed"},
		{m, "SELECT 1 /*M! ; */", 0, "a comment that is executed"},
		{m, "DO RELEASE_LOCK('a')", 0, "must not begin with DO"},
	} {
		err := dialects[c.dialect].grammar.check(c.statement, c.args)
		if (err == nil) != (c.fault == "") || (err != nil && !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s: %s: got %v, want %q", c.dialect, c.statement, err, c.fault)
		}
	}
}

func TestWhatReads(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT 1": true, "(select 1)": true, "WITH a AS (SELECT 1) SELECT * FROM a": true, "VALUES (1)": true,
		"UPDATE a SET b = 1": false, "WITH a AS (SELECT 1) DELETE FROM b": false, "INSERT INTO a SELECT 1": false,
	} {
		if got := mysqlGrammar.reads(text); got != want {
			t.Errorf("%s: got %t", text, got)
		}
	}
}

func FuzzGrammar(f *testing.F) {
	for _, text := range []string{"SELECT $1", "$a$", "E'\\", "/*/**/", "--", "?;", "'\"`"} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		for _, d := range dialects {
			_ = d.grammar.check(text, 1) // it ends, and does not panic
		}
	})
}

// TestASecretThatIsMissing: nothing was sent, and it is waited for.
func TestASecretThatIsMissing(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		_, err := w.compile(func(s *v1alpha1.SQLEffect) { s.DSN.SecretKeyRef.Name = "other" }).Execute(context.Background(), effecttest.NewAttempt(1))
		missingWith(t, err, "other")
	})
}

// TestThePageHasTheLedger: who creates the table by hand copies it from there.
func TestThePageHasTheLedger(t *testing.T) {
	page, err := os.ReadFile("../../../docs/effects/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range dialects {
		if ddl := strings.TrimSpace(d.text.create) + ";"; !strings.Contains(string(page), ddl) {
			t.Errorf("docs/effects/sql.md does not have the ledger of %s as it is", name)
		}
	}
}
