package httpcall

import (
	"crypto/tls"
	"net"
	"time"

	"github.com/taskonce/taskonce/internal/effect"
)

// DefaultMaxResponseBytes is how much of an answer's body is read.
const DefaultMaxResponseBytes = 1 << 20

// Options of the package. The zero value works, without Secrets.
type Options struct {
	// Secret reads one Secret, live. An attempt reads each that it names once.
	Secret effect.SecretReader

	// AllowLoopback allows receivers on the operator's own machine: loopback and unspecified addresses. They are
	// refused by default, on the address that is dialled, after DNS resolution.
	AllowLoopback bool

	// AllowLinkLocal allows link-local addresses and those of cloud metadata services, which hand out the
	// node's credentials to whoever asks.
	AllowLinkLocal bool

	// MaxResponseBytes is how much of a body is read. Zero: DefaultMaxResponseBytes.
	MaxResponseBytes int64

	// Unsafe switches protections off, to show that they are needed. Never set it in an operator.
	Unsafe Unsafe

	// For tests of this package: a clock, what is trusted, what happens between a dial and the first write, and who is
	// asked for addresses.
	now      func() time.Time
	tls      *tls.Config
	dialled  func()
	resolver *net.Resolver
}

// Unsafe switches protections off.
type Unsafe struct {
	// ReuseConnections lets requests share connections. Then Go's transport sends a request that has an
	// Idempotency-Key again, by itself, when a warm connection dies (hazard 6).
	ReuseConnections bool
}

// New returns the compiler of HTTP effects. It reads the environment's proxy settings.
func New(options Options) effect.Compiler {
	return (&compiler{client: newClient(options)}).compile
}
