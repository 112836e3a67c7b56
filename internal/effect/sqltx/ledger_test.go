package sqltx

import (
	"sync"
	"testing"

	"github.com/taskonce/taskonce/internal/effect/effecttest"
)

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
		missingWith(t, err, "create it with what kubectl taskonce ledger-ddl prints")
		is(t, w.verified(w.compile(), effecttest.NewAttempt(1)), unknown, false, "taskonce_ledger")
		missingWith(t, w.compile().Prepare(t.Context(), effecttest.NewAttempt(1)), "no table taskonce_ledger")
		if err := w.compile(creating).Prepare(t.Context(), effecttest.NewAttempt(1)); err != nil {
			t.Errorf("the attempt makes it, and it is said to be missing: %v", err)
		}
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
		if err := w.compile().Prepare(t.Context(), effecttest.NewAttempt(2)); err != nil {
			t.Errorf("nothing is missing, and it says %v", err)
		}
	})
}
