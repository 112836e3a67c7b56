// Package lifecycle holds all judgement about a submission, in two pure functions: Decide says what is to be done
// next, and Project says what its status is. There is no client here, no clock, no goroutine and no randomness:
// time and jitter are passed in, and a time to look again comes out.
//
// The rules are those of docs/lifecycle.md. Where a comment names an invariant (I1 to I10), docs/guarantees.md
// states it.
package lifecycle
