package sqltx

import (
	"context"
	"fmt"

	"github.com/taskonce/taskonce/internal/effect"
)

// Forbid puts a tombstone into the ledger. Its insert waits a while for a session that has inserted the key and is still
// open; a session that has not can only find it. So, once it is there, no attempt up to this one is committed any more.
func (t *transaction) Forbid(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	return t.ask(ctx, attempt, func(ctx context.Context, r *run) effect.Outcome {
		found, err := r.forbid(ctx)
		if err != nil && t.createLedger && r.dialect.explain(err).cause == noTable {
			if err = r.create(ctx); err == nil {
				found, err = r.forbid(ctx)
			}
		}
		switch {
		case err != nil:
			return r.cannotTell(err)
		case found != nil && found.digest == attempt.PayloadDigest:
			return r.applied(found.result)
		case found != nil:
			return retryable("the ledger has this key with other parameters, so none of these attempts can be committed")
		default:
			return retryable(fmt.Sprintf("the ledger refuses attempt %d and those before it from now on", attempt.Number))
		}
	})
}

// forbid commits a tombstone, or returns the row of a transaction that was committed before.
func (r *run) forbid(ctx context.Context) (*entry, error) {
	if err := r.session.begin(ctx, patience(r.timeout)); err != nil {
		return nil, err
	}
	defer r.session.rollback()
	inserted, err := r.dialect.insert(ctx, r.session, r.attempt, statusForbidden, "")
	if err != nil {
		return nil, err
	}
	if !inserted {
		found, err := r.dialect.read(ctx, r.session, r.dialect.text.lock, r.attempt.DownstreamKey)
		switch {
		case err == nil && found == nil:
			return nil, errElsewhere
		case err != nil, found.status != statusForbidden:
			return found, err
		case found.forbids(r.attempt):
			return nil, nil
		}
		if _, err := r.session.run(ctx, r.dialect.text.extend, []any{int64(r.attempt.Number), r.attempt.DownstreamKey}); err != nil {
			return nil, err
		}
	}
	return nil, r.session.commit(ctx) // where no answer comes, the next try finds it
}
