package sqltx

import (
	"context"
	"fmt"

	"github.com/taskonce/taskonce/internal/effect"
)

// Prepare connects and looks whether the ledger can be read.
func (t *transaction) Prepare(ctx context.Context, attempt effect.Attempt) error {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	r, err := t.open(ctx, attempt)
	if err != nil {
		return err
	}
	if r.session == nil {
		return fmt.Errorf("it cannot be told: %s", r.unreached.Message)
	}
	defer r.session.release()
	if _, err = r.dialect.read(ctx, r.session, r.dialect.text.read, attempt.DownstreamKey); err == nil {
		return nil
	}
	if r.dialect.explain(err).cause == noTable {
		if t.createLedger {
			return nil // the attempt makes it
		}
		return noLedger()
	}
	_, err = r.ledgerFailed(err)
	return err
}
