package sqltx

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

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
