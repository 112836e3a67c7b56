package sqltx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/taskonce/taskonce/internal/effect"
)

const (
	// statusApplied is the status of a row that was committed with its statements.
	statusApplied = "applied"
	// statusForbidden is the status of a tombstone: no attempt up to the row's own may commit any more.
	statusForbidden = "forbidden"
)

// entry is a row of the ledger.
type entry struct {
	digest, status string
	attempt        int32
	result         string
	expired        bool
}

// forbids reports whether a tombstone keeps an attempt from being committed.
func (e *entry) forbids(attempt effect.Attempt) bool {
	return attempt.Number <= e.attempt && !e.expired
}

// errElsewhere says that the key was inserted and could not be read, or the other way round: somebody deletes rows.
var errElsewhere = errors.New("the row of the ledger came or went in between")

// ledgerError says that the table is not as it should be.
type ledgerError struct{ column string }

func (e *ledgerError) Error() string {
	return fmt.Sprintf("its column %s holds what it should not", e.column)
}

// businessError says that the business key is another submission's.
type businessError struct{ owner string }

func (e *businessError) Error() string { return "the business key belongs to " + e.owner }

// businessType is what business keys are unique within.
func businessType(attempt effect.Attempt) string {
	name := attempt.Namespace + "/" + attempt.Template
	if attempt.Scope != "" {
		name = attempt.Scope + "/" + name
	}
	return name
}

// claim inserts the row of an attempt, and returns the one that is there already, if one is. It waits for a session
// that has inserted the key and is still open.
func (d *dialect) claim(ctx context.Context, s session, attempt effect.Attempt) (*entry, error) {
	inserted, err := d.insert(ctx, s, attempt, statusApplied, attempt.BusinessKey)
	if inserted || err != nil {
		return nil, err
	}
	found, err := d.read(ctx, s, d.text.lock, attempt.DownstreamKey)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, d.ownedBy(ctx, s, attempt)
	}
	if found.status != statusForbidden || found.forbids(attempt) {
		return found, nil
	}
	count, err := s.run(ctx, d.text.replace, []any{
		attempt.PayloadDigest, businessType(attempt), orNull(attempt.BusinessKey), int64(attempt.Number), attempt.DownstreamKey,
	})
	if d.duplicate(err) {
		return nil, d.ownedBy(ctx, s, attempt)
	}
	if err == nil && count != 1 {
		err = errElsewhere
	}
	return nil, err
}

// insert reports whether there was no such row.
func (d *dialect) insert(ctx context.Context, s session, attempt effect.Attempt, status, businessKey string) (bool, error) {
	count, err := s.run(ctx, d.text.insert, []any{
		attempt.DownstreamKey, businessType(attempt), orNull(businessKey), attempt.PayloadDigest, status, int64(attempt.Number),
	})
	if d.duplicate(err) {
		return false, nil
	}
	return count == 1, err
}

// read returns the row of a key, or nil.
func (d *dialect) read(ctx context.Context, s session, text, key string) (*entry, error) {
	found, err := s.query(ctx, text, []any{key}, 1)
	if err != nil || len(found.cells) == 0 {
		return nil, err
	}
	var e entry
	var expired int
	for i, into := range []any{&e.digest, &e.status, &e.attempt, &e.result, &expired} {
		if err := json.Unmarshal(found.cells[0][i], into); err != nil {
			return nil, &ledgerError{column: found.columns[i]}
		}
	}
	e.expired = expired == 1
	return &e, nil
}

// ownedBy returns a *businessError, or that the row which was in the way is gone.
func (d *dialect) ownedBy(ctx context.Context, s session, attempt effect.Attempt) error {
	if attempt.BusinessKey == "" {
		return errElsewhere
	}
	found, err := s.query(ctx, d.text.owner, []any{businessType(attempt), attempt.BusinessKey}, 1)
	if err != nil {
		return err
	}
	var owner string
	if len(found.cells) == 0 || json.Unmarshal(found.cells[0][0], &owner) != nil {
		return errElsewhere
	}
	return &businessError{owner}
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
