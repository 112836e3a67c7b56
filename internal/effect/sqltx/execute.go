package sqltx

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
)

// transaction is the effect of one template.
type transaction struct {
	databases    *Databases
	dialect      *dialect
	namespace    string
	secret       v1alpha1.SecretKeyRef
	timeout      time.Duration
	createLedger bool
	statements   []statement
	result       *query
}

// query is SQL text and what its placeholders stand for.
type query struct {
	text string
	args []*expr.Text
	// reads says that it returns rows.
	reads bool
}

// statement is a query that must find a number of rows; nil: any.
type statement struct {
	query
	expect *int64
}

var (
	_ effect.Effect    = (*transaction)(nil)
	_ effect.Verifier  = (*transaction)(nil)
	_ effect.Forbidder = (*transaction)(nil)
	_ effect.Preparer  = (*transaction)(nil)
)

// Execute runs the transaction once. Until COMMIT is sent every failure is a NotApplied, since nothing was committed;
// an error is a Secret, a user, a database or a ledger that is missing (*effect.DependencyError).
func (t *transaction) Execute(ctx context.Context, attempt effect.Attempt) (effect.Outcome, error) {
	ctx, cancel := context.WithDeadline(ctx, attempt.Deadline)
	defer cancel()
	args, err := t.arguments(attempt)
	if err != nil {
		return rejected(err.Error()), nil
	}
	if t.over(attempt) {
		return retryable("the deadline was over before the transaction could begin; nothing was sent"), nil
	}
	r, err := t.open(ctx, attempt)
	if err != nil {
		return effect.Outcome{}, err
	}
	if r.session == nil {
		return r.unreached, nil
	}
	defer r.session.release()
	outcome, err := r.execute(ctx, args)
	if errors.Is(err, errNoLedger) && t.createLedger {
		if err := r.create(ctx); err != nil {
			return r.failed("the ledger cannot be created", err)
		}
		outcome, err = r.execute(ctx, args)
	}
	if errors.Is(err, errNoLedger) {
		return effect.Outcome{}, noLedger()
	}
	return outcome, err
}

func noLedger() error {
	return effect.Missing("the database has no table taskonce_ledger: create it with what kubectl taskonce ledger-ddl prints, or set createLedger to true")
}

// over reports whether the attempt's time has passed, so that nothing may be committed any more.
func (t *transaction) over(attempt effect.Attempt) bool {
	return effect.Over(t.databases.now(), attempt.Deadline)
}

// arguments evaluates the arguments of all statements, and then of the result.
func (t *transaction) arguments(attempt effect.Attempt) ([][]any, error) {
	in, err := attempt.Input()
	if err != nil {
		return nil, errors.New("the parameters are not JSON")
	}
	var all [][]any
	for i := range t.statements {
		values, err := t.statements[i].values(in)
		if err != nil {
			return nil, fmt.Errorf("statement %d: %w", i+1, err)
		}
		all = append(all, values)
	}
	if t.result != nil {
		values, err := t.result.values(in)
		if err != nil {
			return nil, fmt.Errorf("the result: %w", err)
		}
		all = append(all, values)
	}
	return all, nil
}

func (q *query) values(in expr.Input) ([]any, error) {
	values := make([]any, len(q.args))
	for i, arg := range q.args {
		value, err := arg.Value(in)
		if err != nil {
			return nil, fmt.Errorf("argument %d cannot be made: %w", i+1, err)
		}
		values[i] = value
	}
	return values, nil
}

// run is one attempt, or one question, on one session.
type run struct {
	*transaction
	session session
	attempt effect.Attempt
	secrets effect.Secrets
	// unreached is the outcome where there is no session.
	unreached effect.Outcome
}

// open reads the DSN and opens a session. An error means that something is missing.
func (t *transaction) open(ctx context.Context, attempt effect.Attempt) (*run, error) {
	dsn, err := t.databases.options.Secret.Key(ctx, t.namespace, t.secret.Name, t.secret.Key)
	if err != nil {
		return nil, err
	}
	dsn = trimmed(dsn)
	session, secrets, err := t.databases.open(ctx, t.dialect, dsn)
	r := &run{transaction: t, attempt: attempt, secrets: secrets}
	var unusable *dsnError
	if errors.As(err, &unusable) {
		return nil, effect.Missing("the key %q of the Secret %q is not the DSN of a %s database, such as %s: put one there", t.secret.Key, t.secret.Name, t.dialect.name, t.dialect.example)
	}
	if err != nil {
		r.unreached, err = r.failed("", err)
		return r, err
	}
	r.session = session
	return r, nil
}

// failed says what an error means before COMMIT was sent: nothing was committed.
func (r *run) failed(what string, err error) (effect.Outcome, error) {
	why := r.dialect.explain(err)
	message := r.secrets.Redact(why.message)
	if what != "" {
		message = what + ": " + message
	}
	switch why.cause {
	case missing:
		return effect.Outcome{}, effect.Missing("%s: correct the DSN in the Secret %q, or what it speaks of", cut(message), r.secret.Name)
	case lasting, noTable:
		return rejected(message), nil
	default:
		return retryable(message), nil
	}
}
