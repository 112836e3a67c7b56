package sqltx

import (
	"slices"
	"strings"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
)

// rejected is what fails the same way again.
func rejected(message string) effect.Outcome {
	return effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Permanent: true, Message: cut(message)}
}

// retryable is what was not applied, and may be.
func retryable(message string) effect.Outcome {
	return effect.Outcome{Kind: v1alpha1.OutcomeNotApplied, Message: cut(message)}
}

func undecided(message string) effect.Outcome {
	return effect.Outcome{Kind: v1alpha1.OutcomeUnknown, Message: cut(message)}
}

const maxMessage = 500

// cut makes a message one line of at most maxMessage characters.
func cut(message string) string { return effect.OneLine(message, maxMessage) }

// trimmed takes off the line ends of the files that Secrets are made of.
func trimmed(dsn string) string { return strings.TrimRight(dsn, "\r\n") }

// dsnError says that a text is no DSN. It does not repeat it.
type dsnError struct{}

func (*dsnError) Error() string { return "it is no DSN" }

// shortSecret is a length below which a password is not looked for in results: "1" is everywhere.
const shortSecret = 6

// secretsOf returns what of a DSN must be in no outcome: the whole, and the password.
func secretsOf(dsn, password string) effect.Secrets {
	return slices.DeleteFunc(effect.Secrets{dsn, password}, func(value string) bool { return len(value) < shortSecret })
}
