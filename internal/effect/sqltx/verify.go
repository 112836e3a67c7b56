package sqltx

import (
	"context"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// Verify reads the row. Where there is none it inserts it and rolls that back: who can insert it knows that no session
// holds it, so that, after the deadline, none of the attempts will be committed. A session that does hold it is
// waited for a while and then reported as InProgress.
func (t *transaction) Verify(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	return t.ask(ctx, attempt, func(ctx context.Context, r *run) effect.Outcome {
		found, err := r.look(ctx)
		switch {
		case err != nil:
			return r.cannotTell(err)
		case found == nil:
			return retryable("the ledger has no row of this key, and no session that could still write one")
		default:
			return r.known(found)
		}
	})
}

// ask has a question about earlier attempts answered in a session of its own, within the transaction's time-out.
func (t *transaction) ask(ctx context.Context, attempt effect.Attempt, question func(context.Context, *run) effect.Outcome) (effect.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	r, err := t.open(ctx, attempt)
	if err != nil {
		return effect.Outcome{}, err
	}
	if r.session == nil {
		return undecided(r.unreached.Message), nil
	}
	defer r.session.release()
	return question(ctx, r), nil
}

// look returns the committed row, or nil where there is none, and no session that has inserted one.
func (r *run) look(ctx context.Context) (*entry, error) {
	found, err := r.dialect.read(ctx, r.session, r.dialect.text.read, r.attempt.DownstreamKey)
	if found != nil || err != nil {
		return found, err
	}
	if err := r.session.begin(ctx, patience(r.timeout)); err != nil {
		return nil, err
	}
	defer r.session.rollback()
	inserted, err := r.dialect.insert(ctx, r.session, r.attempt, statusApplied, "") // the business key is not what is asked about
	if inserted || err != nil {
		return nil, err
	}
	found, err = r.dialect.read(ctx, r.session, r.dialect.text.lock, r.attempt.DownstreamKey)
	if found == nil && err == nil {
		err = errElsewhere
	}
	return found, err
}

// patience is how long a question waits for an open session: less than its own time-out, so that it can say so.
func patience(timeout time.Duration) time.Duration { return min(timeout/2, 2*time.Second) }

// cannotTell says why the ledger did not answer.
func (r *run) cannotTell(err error) effect.Outcome {
	why := r.dialect.explain(err)
	message := r.secrets.Redact(why.message)
	switch why.cause {
	case waited:
		return effect.Outcome{Kind: v1alpha1.OutcomeInProgress, Message: "a session of an attempt is still open in the database, which will end it"}
	case noTable:
		return undecided("the database has no table taskonce_ledger any more, so it cannot be told: restore it; " + message)
	default:
		return undecided("the ledger could not be asked: " + message)
	}
}
