package sqltx

import (
	"math"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/expr"
)

// Compile implements effect.Compiler.
func (d *Databases) Compile(namespace string, spec *v1alpha1.TaskTemplateSpec, env *expr.Env) (effect.Effect, effect.Traits, field.ErrorList) {
	root := field.NewPath("spec")
	path := root.Child("effect", "sql")
	if spec.Effect.SQL == nil {
		return nil, effect.Traits{}, field.ErrorList{field.Required(path, "this template has no SQL effect")}
	}
	b := &builder{env: env}
	made := b.transaction(path, spec.Effect.SQL)
	if spec.Verification != nil {
		b.faults = append(b.faults, field.Forbidden(root.Child("verification"), "an SQL effect finds out from its ledger what happened: leave the verification out"))
	}
	if len(b.faults) > 0 {
		return nil, effect.Traits{}, b.faults
	}
	made.databases, made.namespace = d, namespace
	return made, traits(made.timeout), nil
}

// forever: a ledger forgets nothing. It fits into a time.Duration added to today.
const forever = time.Duration(math.MaxInt64 / 2)

// traits: a repeat under the same key is applied once, whenever it comes; and what the ledger says after the deadline
// is so, since every session that may still commit holds its row (see the package's comment).
func traits(timeout time.Duration) effect.Traits {
	return effect.Traits{Timeout: timeout, ReplaySafe: true, RemembersFor: forever, Verifies: true, Forbids: true, Prepares: true, VerifyTimeout: timeout}
}

// builder compiles the parts of one template and collects what is wrong.
type builder struct {
	env    *expr.Env
	faults field.ErrorList
}

func (b *builder) transaction(path *field.Path, spec *v1alpha1.SQLEffect) *transaction {
	made := &transaction{
		dialect: dialects[spec.Dialect], secret: spec.DSN.SecretKeyRef, timeout: spec.Timeout.Duration, createLedger: spec.CreateLedger,
	}
	if made.timeout <= 0 {
		made.timeout = defaultTimeout
	}
	if made.dialect == nil {
		b.faults = append(b.faults, field.NotSupported(path.Child("dialect"), spec.Dialect, []v1alpha1.SQLDialect{v1alpha1.PostgreSQL, v1alpha1.MySQL}))
		return made
	}
	if made.secret.Name == "" || made.secret.Key == "" {
		b.faults = append(b.faults, field.Required(path.Child("dsn", "secretKeyRef"), "name and key are needed"))
	}
	if len(spec.Statements) == 0 {
		b.faults = append(b.faults, field.Required(path.Child("statements"), "without a statement nothing is done"))
	}
	for i := range spec.Statements {
		one := &spec.Statements[i]
		made.statements = append(made.statements, statement{
			query: b.query(path.Child("statements").Index(i), made.dialect, &one.SQLQuery), expect: one.ExpectRows,
		})
	}
	if spec.Result != nil {
		at := path.Child("result")
		result := b.query(at, made.dialect, spec.Result)
		if !result.reads {
			b.faults = append(b.faults, field.Invalid(at.Child("sql"), spec.Result.SQL, "must be a query, such as a SELECT: what changes something is a statement"))
		}
		made.result = &result
	}
	return made
}

func (b *builder) query(path *field.Path, d *dialect, spec *v1alpha1.SQLQuery) query {
	made := query{text: spec.SQL, reads: d.grammar.reads(spec.SQL)}
	if err := d.grammar.check(spec.SQL, len(spec.Args)); err != nil {
		b.faults = append(b.faults, field.Invalid(path.Child("sql"), spec.SQL, err.Error()))
	}
	for i, source := range spec.Args {
		arg, err := b.env.Text(source, expr.Params|expr.Submission)
		if err != nil {
			b.faults = append(b.faults, field.Invalid(path.Child("args").Index(i), source, err.Error()))
		}
		made.args = append(made.args, arg)
	}
	return made
}
