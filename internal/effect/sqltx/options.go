package sqltx

import (
	"time"

	"github.com/taskonce/taskonce/internal/effect"
)

// Options are what the operator's flags and wiring say.
type Options struct {
	// Secret reads one Secret, live.
	Secret effect.SecretReader
	// MaxConnections bounds the connections to one database. 0: DefaultMaxConnections.
	MaxConnections int
	// IdleAfter is how long the connections to a database are kept that nobody uses. 0: a minute.
	IdleAfter time.Duration
}

// DefaultMaxConnections bounds the connections to one database.
const DefaultMaxConnections = 16

const (
	defaultTimeout   = 10 * time.Second
	defaultIdleAfter = time.Minute
)

// New returns the databases of an operator; their Compile is its compiler of SQL effects.
func New(options Options) *Databases {
	if options.MaxConnections <= 0 {
		options.MaxConnections = DefaultMaxConnections
	}
	if options.IdleAfter <= 0 {
		options.IdleAfter = defaultIdleAfter
	}
	return &Databases{options: options, now: time.Now, pools: map[poolKey]*pool{}}
}
