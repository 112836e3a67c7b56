package sqltx

import (
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/test/dbserver"
)

func TestConformance(t *testing.T) {
	applied := []v1alpha1.Outcome{v1alpha1.OutcomeApplied}
	text := effecttest.Expectation{
		Reason:   "whatever a query returns is JSON",
		Outcomes: applied, Sent: 1, Applied: 1, Result: effecttest.ResultIs(`{"said":"thank you"}`),
	}
	effecttest.Conform(t, effecttest.World{
		Name: "sql, PostgreSQL", Build: subjects(v1alpha1.PostgreSQL),
		Differs: map[string]effecttest.Expectation{"result not JSON": text},
	})
	const truth = "MySQL's truth is the number 1"
	result := effecttest.ResultIs(`{"ok":1}`)
	once := effecttest.Expectation{Reason: truth, Outcomes: applied, Sent: 1, Applied: 1, Result: result}
	twice := effecttest.Expectation{Reason: truth, Outcomes: applied, Sent: effecttest.Any, Result: result}
	effecttest.Conform(t, effecttest.World{
		Name: "sql, MariaDB", Build: subjects(v1alpha1.MySQL),
		Differs: map[string]effecttest.Expectation{
			"result not JSON": text, "applied": once, "cancelled after": once, "attempt twice": twice, "key twice": twice,
			"forbidden unseen": {Reason: truth, Outcomes: applied, Sent: effecttest.Any, Applied: 1, Result: result},
		},
	})
}

// subjects builds subjects of the conformance suite: each has a database of its own, behind a proxy.
func subjects(dialect v1alpha1.SQLDialect) func(*testing.T, effecttest.Behaviour) *effecttest.Subject {
	return func(t *testing.T, behaviour effecttest.Behaviour) *effecttest.Subject {
		w := newWorld(t, dialect)
		changes := []change{returning("SELECT true AS ok")}
		switch behaviour {
		case effecttest.Refuse:
			changes = append(changes, also("UPDATE orders SET status = 'CLOSED' WHERE id = 3"), expecting(1))
		case effecttest.RefuseSecret:
			changes = append(changes, also("INSERT INTO awards (task) VALUES ('"+dbserver.Password+"')"))
		case effecttest.Unreachable:
			w.dsn = w.server.DSN(w.name, effecttest.ClosedAddress(t).Port)
		case effecttest.LoseBefore:
			w.proxy.Lose(dbserver.LoseCommit)
		case effecttest.LoseAfter:
			w.proxy.Lose(dbserver.LoseAnswer)
		case effecttest.Hang:
			w.proxy.Lose(dbserver.HangAtCommit)
		case effecttest.AnswerLarge:
			changes = []change{returning("SELECT repeat('x', 20000) AS x")}
		case effecttest.AnswerEmpty:
			changes = nil
		case effecttest.AnswerText:
			changes = []change{returning("SELECT 'thank you' AS said")}
		case effecttest.TellSecret:
			changes = []change{returning("SELECT '" + dbserver.Password + "' AS told")}
		}
		return &effecttest.Subject{
			Effect: w.compile(changes...), Sent: w.proxy.Inserts, Applied: w.awards, Dedups: effecttest.DedupsKeys,
			Secret: dbserver.Password, Reached: w.proxy.AwaitCommit,
		}
	}
}
