package lifecycle

import (
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Step is the one thing that is to be done next. The set is closed.
type Step interface{ step() }

type (
	// ReadRecord: the record must be read, live, before anything can be said.
	ReadRecord struct{}

	// ReadClaim: the claim on the business key and its holder's record must be read, live.
	ReadClaim struct{}

	// Begin: reserve a slot, start the deadline, then store the action with its new, open attempt: by create where
	// there is no record, else by compare-and-swap. Only an acknowledged write grants the launch (I2).
	Begin struct{ Action v1alpha1.Action }

	// Store: store the action, by create where there is no record, else by compare-and-swap. It launches nothing.
	Store struct {
		Action v1alpha1.Action
		// RemoveAt is when the submission is to be removed, so that the record is looked at then; zero: not known, or
		// there is none.
		RemoveAt time.Time
	}

	// CreateClaim: create the claim for this record.
	CreateClaim struct{}

	// TakeClaim: make the claim that was read this record's, by compare-and-swap.
	TakeClaim struct{}

	// Launch: execute the attempt that was granted (I3).
	Launch struct{}

	// Check: ask about the current attempt, in a flight of that kind.
	Check struct{ Kind FlightKind }

	// Abandon: give the slot back; what it was for was never launched, or is stored.
	Abandon struct{}

	// Judge: write what came of a decision.
	Judge struct {
		Decision *v1alpha1.TaskDecision
		State    v1alpha1.DecisionState
		Message  string
	}

	// Adjourn: write why a decision waits, and when it is tried again.
	Adjourn struct {
		Decision *v1alpha1.TaskDecision
		Message  string
		At       time.Time
	}

	// Release: delete the claim that was read, with its UID and resource version as preconditions.
	Release struct{}

	// Remove: delete the submission that was read, with its UID and resource version as preconditions.
	Remove struct{}

	// Expire: delete the claim, then the record, each with preconditions, unless a submission of that name exists.
	Expire struct{}

	// Wait: nothing is to be done before In has passed, or until something changes where In is zero.
	Wait struct {
		In time.Duration
		// Quiet says that the status is not to be written yet.
		Quiet bool
	}
)

// Named is the decision as records name it.
func (j Judge) Named() *v1alpha1.DecisionRef { return decisionRef(j.Decision) }

func (ReadRecord) step()  {}
func (ReadClaim) step()   {}
func (Begin) step()       {}
func (Store) step()       {}
func (CreateClaim) step() {}
func (TakeClaim) step()   {}
func (Launch) step()      {}
func (Check) step()       {}
func (Abandon) step()     {}
func (Judge) step()       {}
func (Adjourn) step()     {}
func (Release) step()     {}
func (Remove) step()      {}
func (Expire) step()      {}
func (Wait) step()        {}

// until waits for a time; a time that has passed waits a moment, so that no loop can spin.
func (o *Observation) until(at time.Time) Wait {
	return Wait{In: max(at.Sub(o.Now), time.Millisecond)}
}
