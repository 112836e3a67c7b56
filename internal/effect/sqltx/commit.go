package sqltx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// errNoLedger says that the table is missing; nothing was done.
var errNoLedger = errors.New("the ledger is missing")

// execute is the transaction: the row, the statements, the result, COMMIT.
func (r *run) execute(ctx context.Context, args [][]any) (effect.Outcome, error) {
	if err := r.session.begin(ctx, r.left()); err != nil {
		return r.failed("", err)
	}
	defer r.session.rollback()
	found, err := r.dialect.claim(ctx, r.session, r.attempt)
	if err != nil {
		return r.unclaimed(err)
	}
	if found != nil {
		return r.known(found), nil
	}
	for i := range r.statements {
		if outcome, err := r.step(ctx, i, args[i]); outcome != nil {
			return *outcome, err
		}
	}
	result := ""
	if r.result != nil {
		var refusal *effect.Outcome
		if result, refusal, err = r.produce(ctx, args[len(r.statements)]); refusal != nil {
			return *refusal, err
		}
	}
	if r.over(r.attempt) || ctx.Err() != nil {
		return retryable("the deadline was over before COMMIT could be sent; nothing was committed"), nil
	}
	return r.commit(ctx, result)
}

// left is how long the attempt may still take.
func (r *run) left() time.Duration { return r.attempt.Deadline.Sub(r.databases.now()) }

// unclaimed says why the row could not be inserted.
func (r *run) unclaimed(err error) (effect.Outcome, error) {
	var other *businessError
	switch why := r.dialect.explain(err); {
	case errors.As(err, &other):
		return rejected(fmt.Sprintf("the ledger says that the business key %q was applied before, under the key %s; to release it, set biz_id of that row to NULL", r.attempt.BusinessKey, other.owner)), nil
	case why.cause == noTable:
		return effect.Outcome{}, errNoLedger
	default:
		return r.ledgerFailed(err)
	}
}

// ledgerFailed is failed for a statement of the operator's own: it is not the submission's fault if the table has other
// columns.
func (r *run) ledgerFailed(err error) (effect.Outcome, error) {
	var wrong *ledgerError
	if why := r.dialect.explain(err); why.cause == lasting || errors.As(err, &wrong) {
		return effect.Outcome{}, effect.Missing("%s", cut("the table taskonce_ledger must be as docs/effects/sql.md has it, so correct it: "+r.secrets.Redact(why.message)))
	}
	return r.failed("the ledger", err)
}

// known is what the ledger says of a key that it has.
func (r *run) known(found *entry) effect.Outcome {
	switch {
	case found.status == statusForbidden:
		return rejected(fmt.Sprintf("a person confirmed that attempt %d and those before it were not applied, so it must not be applied now", found.attempt))
	case found.digest != r.attempt.PayloadDigest:
		return rejected("the ledger has this key with other parameters: another namespace, cluster or template uses it too, or the record of the first submission expired; use another key, or give the operators different scopes")
	default:
		return r.applied(found.result)
	}
}

// applied is the outcome with the result that the ledger holds, or will hold.
func (r *run) applied(result string) effect.Outcome {
	outcome := effect.Outcome{Kind: v1alpha1.OutcomeApplied}
	if r.secrets.In([]byte(result)) {
		result = `{"note":"withheld: the result repeats the password of the database"}`
	}
	outcome.StoreResult([]byte(result), "application/json", false)
	return outcome
}

// step runs one statement. An outcome ends the attempt; without one there is no error.
func (r *run) step(ctx context.Context, i int, args []any) (*effect.Outcome, error) {
	one := &r.statements[i]
	count, err := r.count(ctx, one, args)
	if err != nil {
		outcome, err := r.failed(fmt.Sprintf("statement %d", i+1), err)
		return &outcome, err
	}
	if one.expect != nil && count != *one.expect {
		outcome := rejected(fmt.Sprintf("statement %d found %d rows, and expectRows is %d: everything was rolled back", i+1, count, *one.expect))
		return &outcome, nil
	}
	return nil, nil
}

// count executes a statement, and returns how many rows it found or returned.
func (r *run) count(ctx context.Context, one *statement, args []any) (int64, error) {
	if !one.reads {
		return r.session.run(ctx, one.text, args)
	}
	found, err := r.session.query(ctx, one.text, args, 0)
	if err != nil {
		return 0, err
	}
	return found.count, nil
}

// maxLedgerResult bounds what is stored in the ledger; of a larger result it holds a note.
const maxLedgerResult = 1 << 20

// produce runs the result's query and stores what it returns in the row. An outcome ends the attempt; without one there
// is no error.
func (r *run) produce(ctx context.Context, args []any) (string, *effect.Outcome, error) {
	found, err := r.session.query(ctx, r.result.text, args, 1)
	if err != nil {
		outcome, err := r.failed("the result", err)
		return "", &outcome, err
	}
	if found.count == 0 {
		return "", nil, nil
	}
	if found.count > 1 {
		outcome := rejected(fmt.Sprintf("the result's query returned %d rows, and a result is one: aggregate them; everything was rolled back", found.count))
		return "", &outcome, nil
	}
	object := map[string]json.RawMessage{}
	for i, name := range found.columns {
		if _, twice := object[name]; twice {
			outcome := rejected(fmt.Sprintf("the result's query returned two columns named %q: give one another name; everything was rolled back", name))
			return "", &outcome, nil
		}
		object[name] = found.cells[0][i]
	}
	result := string(asJSON(object))
	if len(result) > maxLedgerResult {
		var note effect.Outcome
		note.StoreResult([]byte(result), "application/json", false)
		result = string(note.Result)
	}
	if _, err := r.session.run(ctx, r.dialect.text.result, []any{result, r.attempt.DownstreamKey}); err != nil {
		outcome, err := r.ledgerFailed(err)
		return "", &outcome, err
	}
	return result, nil, nil
}

// commit is the moment of the effect. Where no answer comes, or one that leaves it open, nobody knows.
func (r *run) commit(ctx context.Context, result string) (effect.Outcome, error) {
	err := r.session.commit(ctx)
	switch {
	case err == nil:
		return r.applied(result), nil
	case r.dialect.refused(err):
		return r.failed("at COMMIT", err)
	default:
		return effect.Outcome{
			Kind:    v1alpha1.OutcomeUnknown,
			Message: cut(r.secrets.Redact("COMMIT was sent, and no answer says whether it happened; the ledger will tell: " + r.dialect.explain(err).message)),
		}, nil
	}
}

// create makes the ledger. Two that do so at once may meet in the catalogue: then it is there.
func (r *run) create(ctx context.Context) error {
	r.session.rollback()
	_, err := r.session.run(ctx, r.dialect.text.create, nil)
	if err == nil {
		return nil
	}
	if _, absent := r.dialect.read(ctx, r.session, r.dialect.text.read, r.attempt.DownstreamKey); absent == nil {
		return nil
	}
	return err
}
