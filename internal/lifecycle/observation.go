package lifecycle

import (
	"encoding/json"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Observation is everything that is known about one action at one moment.
type Observation struct {
	// Now is this machine's wall clock. It decides what is due and what expires, never whether an effect is safe.
	Now time.Time
	// Jitter is a number in [0, 1) that spreads retries.
	Jitter float64
	// Executor is the identity of this process, random for each start.
	Executor string

	// Submission is nil where there is none (any more), and the record is driven on alone.
	Submission *v1alpha1.TaskSubmission
	// Key is the idempotency key, of the submission or else of the record.
	Key string
	// PayloadDigest is the digest of what the submission asks for.
	PayloadDigest string
	// Problem is what is wrong with the input, where the template can tell; nil otherwise.
	Problem *Problem
	// BusinessKey is what the template makes of the parameters; empty where it has none.
	BusinessKey string

	Template  Template
	Record    Record
	Claim     Claim
	Flight    Flight
	Decisions []v1alpha1.TaskDecision // those that are Pending, oldest first

	// Refused is what the API server said when it did not store what the last step was to store; empty: nothing. Only
	// Project looks at it.
	Refused string

	// Sighted is for how long this process, on its own monotonic clock, has known the current attempt to be where it
	// is: since its begin where it is this process's own, and otherwise since it was first seen.
	Sighted time.Duration

	// Runs says that what a detached effect started goes on, as far as was told: its end will be told, too.
	Runs bool

	// Off switches rules off, to show that each is needed. Zero in every build that is meant to be used.
	Off Off
}

// Problem is a fault of the input: InvalidName, InvalidParameters or KeyMismatch.
type Problem struct {
	Reason v1alpha1.Reason
	// Field is the path of what is wrong.
	Field   string
	Message string
}

// TemplateState says whether the template can be used.
type TemplateState int

const (
	// TemplateReady: it compiles.
	TemplateReady TemplateState = iota
	// TemplateNotFound: there is none of that name.
	TemplateNotFound
	// TemplateNotReady: it does not compile.
	TemplateNotReady
)

// Template is what the lifecycle must know of the submission's template.
type Template struct {
	State TemplateState
	// Message says what is wrong where it is not ready.
	Message string
	// Spec holds the policies; nil unless ready.
	Spec *v1alpha1.TaskTemplateSpec
	// Digest of effect and verification.
	Digest string
	// Timeout of an attempt; ReplaySafe, RemembersFor, Verifies, Forbids, Prepares and SettleAfter as package effect has them.
	Timeout      time.Duration
	ReplaySafe   bool
	RemembersFor time.Duration
	Verifies     bool
	Forbids      bool
	Prepares     bool
	SettleAfter  time.Duration
	// Detached as package effect has it.
	Detached bool
	// Pause keeps new attempts back; nil: nothing does.
	Pause *Pause
}

// Pause is why, and until when, no attempt of a template begins: its receiver refuses the template's credentials, and
// one attempt at a time finds out whether it still does.
type Pause struct {
	Until time.Time
	// Message is what the receiver said.
	Message string
}

// Record is what is known of the record.
type Record struct {
	// Read says that the object was read live or written by this process; without it, nothing is known.
	Read bool
	// Object is nil where there is none.
	Object *v1alpha1.TaskRecord
	// Last is what this process stored last, where the object was deleted since, while its attempt runs here.
	Last *v1alpha1.Action
}

// Claim is what is known of the claim on the business key.
type Claim struct {
	// Read says that the object was read live or written by this process.
	Read bool
	// Object is nil where there is none.
	Object *v1alpha1.TaskRecord
	// Holder is the record that holds it, where it is another one; nil where that is gone.
	Holder *v1alpha1.TaskRecord
}

// FlightState says what the in-flight table knows.
type FlightState int

const (
	// FlightNone: nothing of this action runs here.
	FlightNone FlightState = iota
	// FlightFull: a slot was asked for, and there was none.
	FlightFull
	// FlightUnacknowledged: a begin was written, and its answer did not arrive. It was not launched.
	FlightUnacknowledged
	// FlightGranted: the begin was acknowledged. It was not launched yet.
	FlightGranted
	// FlightRunning: the effect, or a check, is under way.
	FlightRunning
	// FlightFinished: there is a report, not stored yet.
	FlightFinished
)

// FlightKind says what a flight is for: an attempt's effect or, for each other kind, a check, which asks about one.
type FlightKind int

const (
	// Execution: it carries the effect out.
	Execution FlightKind = iota
	// Poll: it asks how far a receiver is that took the attempt on.
	Poll
	// Verification: it asks whether the attempt had its effect, too early for a "no" to be believed.
	Verification
	// SettledVerification: it asks the same after the settling time.
	SettledVerification
	// Prohibition: it asks the same, and has the receiver refuse the attempt from then on.
	Prohibition
	// Preparation: it only looks for what the attempt lacked.
	Preparation
)

// Checks reports whether it is a check.
func (k FlightKind) Checks() bool { return k != Execution }

// Flight is what runs, or ran, of this action in this process.
type Flight struct {
	State FlightState
	Kind  FlightKind
	// Attempt is the number of the attempt that is executed or checked.
	Attempt int32
	// Begun is what the attempt's begin says of when it was begun; zero for a check.
	Begun time.Time
	// Running is for how long it has been under way.
	Running time.Duration
	// Report is what came of it, where it is finished.
	Report Report
	// FreeAt is when a begin is allowed again, where the rate is used up.
	FreeAt time.Time
	// Asked is for how long a slot has been asked for, where there is none.
	Asked time.Duration
}

// Report is what came of an attempt or of a check.
type Report struct {
	Outcome v1alpha1.Outcome
	// Permanent says of NotApplied that trying again is of no use.
	Permanent bool
	// Missing says that something which the template names was missing, so nothing was sent. It does not count.
	Missing bool
	// Unauthorized says of NotApplied that the receiver refused the template's credentials. It does not count either.
	Unauthorized bool
	Message      string
	Result       json.RawMessage
	ResultDigest string
	RetryAfter   time.Duration
	Location     string
	// Final says that no later question will be answered otherwise; Finished, that what was started was seen to end.
	Final, Finished bool
}

// Off names the rules that a test may switch off; see docs/guarantees.md.
type Off struct {
	// SettleAfter: "it did not happen" is believed at once.
	SettleAfter bool
	// OrphanWait: an attempt of another process is taken as lost at once.
	OrphanWait bool
}

// Grace is how long an orphaned attempt is waited for beyond its own time-out.
const Grace = 5 * time.Second

// QuietFor is how long an effect may run before its submission's status says Processing: a short effect needs
// one status write less.
const QuietFor = 500 * time.Millisecond

// QuietInQueue is how long a submission may wait for a slot before its status says so: where the queue moves, that would
// cost each one a read and a write more, which the queue waits for, too.
const QuietInQueue = 5 * time.Second

// HeldInterval is how often the holder of a business key is looked at, where no event wakes the waiting.
const HeldInterval = 30 * time.Second
