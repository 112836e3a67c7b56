// Package effect is the seam between the lifecycle of a submission and the side effect it asks for. Each kind of
// effect is one package below this one, and none knows another, a controller or a record.
package effect

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Effect carries out attempts of one template's effect. Implementations are safe for concurrent use.
type Effect interface {
	// Execute carries out one attempt under the submission's key. It returns when ctx ends and classifies
	// honestly: an error means that nothing was sent; when it cannot prove that nothing happened, the outcome is
	// Unknown. It compares the clock with Attempt.Deadline immediately before sending, and sends nothing after it.
	Execute(ctx context.Context, attempt Attempt) (Outcome, error)
}

// Verifier is implemented by effects that can find out what became of an earlier attempt without causing it.
type Verifier interface {
	// Verify asks what became of all attempts under the key. Applied, NotApplied and InProgress are what the
	// receiver says; Unknown, or an error, means that it cannot be told now. Whether "NotApplied" may be believed
	// yet is not for Verify to say.
	Verify(ctx context.Context, attempt Attempt) (Outcome, error)
}

// Forbidder is implemented by effects that can see to it that an attempt which may still be under way comes to nothing.
type Forbidder interface {
	// Forbid has the receiver refuse the attempt and all before it from now on. NotApplied: none was applied, and none
	// will be. Applied, with the result: one was, and nothing was changed. Any other outcome, and an error, say that it
	// cannot be seen to now. Done twice it is done once; later attempts are not kept from anything.
	Forbid(ctx context.Context, attempt Attempt) (Outcome, error)
}

// Preparer is implemented by effects that need what may be missing, such as a Secret.
type Preparer interface {
	// Prepare looks, without causing anything, whether what an attempt needs is there: a *DependencyError says what is
	// not. Any other error says nothing.
	Prepare(ctx context.Context, attempt Attempt) error
}

// Poller is implemented by effects whose receivers can take an action on and finish it later.
type Poller interface {
	// Poll asks for the progress of an attempt that was InProgress, at Attempt.Location.
	Poll(ctx context.Context, attempt Attempt) (Outcome, error)
}

// Follower is implemented by effects whose receivers tell by themselves how an attempt goes on, so that nobody polls.
type Follower interface {
	// Runs reports that, as far as was told, what an attempt started is at this location and goes on: there is nothing
	// to ask for. It asks nobody.
	Runs(namespace, location string) bool
}

// Disposer is implemented by effects that leave something behind which goes with the submission.
type Disposer interface {
	// Dispose lets go what the attempts of a submission left behind. Their outcomes are stored.
	Dispose(ctx context.Context, attempt Attempt, submission types.UID) error
}

// Traits are what the lifecycle must know of an effect to judge an unknown outcome.
type Traits struct {
	// Timeout bounds an attempt, from its begin to the end of the answer.
	Timeout time.Duration
	// ReplaySafe says that the same downstream key may be sent again while RemembersFor has not passed.
	ReplaySafe bool
	// RemembersFor is how long the receiver remembers downstream keys, counted from the first attempt.
	RemembersFor time.Duration
	// Verifies says that the effect is a Verifier and has something to ask.
	Verifies bool
	// Prepares and Forbids say that the effect is a Preparer, and a Forbidder.
	Prepares bool
	Forbids  bool
	// VerifyTimeout bounds one verification.
	VerifyTimeout time.Duration
	// SettleAfter is how long after an attempt's deadline the receiver may still apply it.
	SettleAfter time.Duration
	// Detached says that an attempt only starts something which goes on by itself under a name, that attempts share
	// the name until it was seen finished, and that it holds its place in the limits until then.
	Detached bool
}

// Attempt is what an effect needs to know of one try.
type Attempt struct {
	// Namespace and Name of the submission, and its idempotency key.
	Namespace, Name, Key string
	// DownstreamKey is what the receiver dedups by: [<scope>/]<namespace>/<name>. It is the same for every attempt.
	DownstreamKey string
	// BusinessKey is empty where the template has none.
	BusinessKey string
	// Template is the name of the template, and Scope the operator's, or empty. Business keys are unique within both
	// and the namespace.
	Template, Scope string
	// PayloadDigest is the digest of template and parameters: two that share a key by accident differ in it.
	PayloadDigest string
	// Number is 1 for the first attempt.
	Number int32
	// Deadline is when the attempt ends, with a monotonic reading.
	Deadline time.Time
	// Parameters as the API server stores them: a JSON object.
	Parameters json.RawMessage
	// Traceparent is the client's W3C trace context, or empty.
	Traceparent string
	// Location is where the progress of this attempt can be asked for, where it was InProgress. Of a detached effect
	// it says that the record knows of what was started.
	Location string
	// Record is the UID of the record that stores the attempt.
	Record types.UID
	// Job is the number in the name of what a detached effect starts; 0: it is not known.
	Job int32
}

// Outcome is what an attempt came to.
type Outcome struct {
	// Kind is Applied, NotApplied, InProgress or Unknown.
	Kind v1alpha1.Outcome
	// Permanent says of NotApplied that trying again is of no use.
	Permanent bool
	// Message is one sentence for a person. It holds no secret.
	Message string
	// Result is JSON of at most MaxResultBytes, where Applied: the result itself or a note about it.
	Result json.RawMessage
	// ResultDigest is the digest of the whole result.
	ResultDigest string
	// RetryAfter is the receiver's wish: no earlier attempt.
	RetryAfter time.Duration
	// Location is where the progress can be asked for, where InProgress.
	Location string
	// Credentials says whether the receiver accepted the template's, where its answer tells.
	Credentials Credentials
	// Final says of an answer to a question that no later one will be another.
	Final bool
	// Finished says that what a detached effect started was seen to end. It is final.
	Finished bool
}

// Credentials is what an answer says of the template's credentials; empty: nothing.
type Credentials string

const (
	// CredentialsAccepted: what was sent was looked at.
	CredentialsAccepted Credentials = "Accepted"
	// CredentialsRefused: nobody's attempt under these credentials would be looked at. It is NotApplied, and does not
	// count against its submission.
	CredentialsRefused Credentials = "Refused"
)

// MaxResultBytes is the largest result that is stored; a larger one is replaced by a note.
const MaxResultBytes = 16 << 10

// DependencyError says that something which the template names is missing, such as a Secret. Nothing was sent, and
// the attempt does not count: it is waited for.
type DependencyError struct{ What string }

func (e *DependencyError) Error() string { return e.What }

// Missing returns a DependencyError.
func Missing(format string, arguments ...any) error {
	return &DependencyError{What: fmt.Sprintf(format, arguments...)}
}
