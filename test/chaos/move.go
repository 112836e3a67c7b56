package main

import (
	"fmt"
	"slices"
)

// move is what the receiver makes of one call.
type move string

const (
	moveApply      move = "apply"       // and answer
	moveStall      move = "stall"       // apply after the caller has given up
	moveDropBefore move = "drop-before" // cut the connection, and do nothing
	moveDropAfter  move = "drop-after"  // apply, and cut the connection
	moveError      move = "error"       // apply, and answer 500
	moveHalf       move = "half"        // apply, and close half-way through the answer
	moveBusy       move = "busy"        // do nothing, and answer 429
	moveReject     move = "reject"      // do nothing, and answer 422
)

// chance of a move, in a hundred.
type chance struct {
	move move
	odds int
}

// usual are the chances of a run.
var usual = []chance{
	{moveApply, 58}, {moveStall, 5}, {moveDropBefore, 6}, {moveDropAfter, 8},
	{moveError, 6}, {moveHalf, 5}, {moveBusy, 8}, {moveReject, 4},
}

// stalling are the chances of a receiver that is slow.
var stalling = []chance{{moveApply, 40}, {moveStall, 60}}

// kindCalls is the number of the call from which on the receiver is kind, so that a run comes to its end.
const kindCalls = 5

// moveOf returns what is made of the nth call of a key, from 1.
func moveOf(chances []chance, seed uint64, key string, n int) move {
	if n >= kindCalls {
		return moveApply
	}
	left := draw(seed, fmt.Sprintf("call %d of %s", n, key)).IntN(100)
	for _, c := range chances {
		if left -= c.odds; left < 0 {
			return c.move
		}
	}
	return moveApply
}

// loses reports whether the caller cannot know what came of its call. (A stalled answer may still reach a caller that
// was stopped meanwhile.)
func (m move) loses() bool {
	return slices.Contains([]move{moveDropBefore, moveDropAfter, moveError, moveHalf}, m)
}
