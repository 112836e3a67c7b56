// Package failpoint names the places between two effects on the world at which a process may die. A build with the tag
// "faults" can be told to; in any other they are nothing.
package failpoint

// Name of a place, as TASKONCE_FAILPOINT says it.
type Name string

const (
	// BeforeRecord is before an attempt is stored.
	BeforeRecord Name = "before-record"
	// AfterRecord is after it was stored, and before anything is sent.
	AfterRecord Name = "after-record"
	// AfterRequest is after an effect's request was written, and before its answer.
	AfterRequest Name = "after-request"
	// AfterAnswer is when an attempt has come to its outcome, which is not stored yet.
	AfterAnswer Name = "after-answer"
	// AfterConclude is after the record was concluded, or went on.
	AfterConclude Name = "after-conclude"
	// BeforeStatus is before the status is written.
	BeforeStatus Name = "before-status"
	// AfterStatus is after it was written.
	AfterStatus Name = "after-status"
)

// All are all of them.
var All = []Name{BeforeRecord, AfterRecord, AfterRequest, AfterAnswer, AfterConclude, BeforeStatus, AfterStatus}
