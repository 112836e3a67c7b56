package main

import "context"

// step is one story: what is played, and what must be seen afterwards.
type step struct {
	name string
	// story is a line or two of explanation.
	story string
	// disturb, where there is one, is played before any other step begins: it kills the operator under them all.
	disturb func(ctx context.Context, s *stage) error
	// play plays the step and returns when there is nothing more to wait for. An error says that it did not get there.
	play func(ctx context.Context, s *stage) error
	// judge says what was expected and what came, from the evidence alone.
	judge func(e *evidence) []Finding
}

// steps returns all of them, in the order in which they are shown.
func steps() []step {
	return []step{
		lostAnswer(),
		stampede(),
		droppedConnection(),
		warmConnection(),
		receiverDown(),
		pleaseWait(),
		killed(),
		twoDevices(),
		otherPayload(),
		refusedAfterUnknown(),
		lateCommit(),
		appliedAgain(),
		badInput(),
		cannotTell(),
		askedFor(),
		jobRunsOn(),
	}
}
